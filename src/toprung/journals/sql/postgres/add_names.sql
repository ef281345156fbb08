-- Give numbers to names that have none. $1 generation, $2 kind, $3 names.
INSERT INTO names (generation, kind, name)
SELECT $1::bigint, $2::text, each FROM unnest($3::text[]) AS each
ON CONFLICT (generation, kind, md5(name)) DO NOTHING
