-- Those of the ladders that a board has, and the only player of each that has had no other.
-- $1 generation, $2 numbers of periods, $3 scopes.
SELECT l.period, l.scope, l.player
FROM unnest($2::integer[], $3::text[]) AS w (period, scope)
CROSS JOIN LATERAL (
    SELECT * FROM scope_ladders
    WHERE generation = $1::bigint AND scope_ladders.period = w.period
        AND scope_ladders.scope = w.scope
) AS l
