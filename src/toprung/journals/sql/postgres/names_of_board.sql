-- number, kind, name of every period and every tuple of scopes of a board. $1 generation.
SELECT number, kind, name FROM names WHERE generation = $1::bigint AND kind IN ('p', 's')
