-- Those of the ladders that a board has. $1 generation, $2 numbers of periods, $3 scopes.
SELECT w.period, w.scope
FROM unnest($2::integer[], $3::text[]) AS w (period, scope)
WHERE EXISTS (
    SELECT FROM scope_ladders AS l
    WHERE l.generation = $1::bigint AND l.period = w.period AND l.scope = w.scope
)
