-- Ladders on which there is more than one player from now on.
-- $1 generation, $2 numbers of periods, $3 scopes.
UPDATE scope_ladders AS l SET player = NULL
FROM unnest($2::integer[], $3::text[]) AS w (period, scope)
WHERE l.generation = $1::bigint AND l.period = w.period AND l.scope = w.scope
