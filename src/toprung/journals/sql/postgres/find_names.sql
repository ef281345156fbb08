-- number, name of each name. $1 generation, $2 kind, $3 names.
SELECT n.number, n.name
FROM unnest($3::text[]) AS wanted (name)
CROSS JOIN LATERAL (
    SELECT * FROM names
    WHERE generation = $1::bigint AND kind = $2::text AND md5(name) = md5(wanted.name)
) AS n
