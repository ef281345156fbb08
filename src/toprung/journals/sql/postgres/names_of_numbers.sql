-- number, generation, kind, name. $1 numbers.
SELECT number, generation, kind, name FROM names WHERE number = ANY ($1::integer[])
