-- Take out ladders, and count them. $1 generation, $2 numbers of periods, $3 scopes.
WITH gone AS (
    DELETE FROM scope_ladders AS l
    USING unnest($2::integer[], $3::text[]) AS w (period, scope)
    WHERE l.generation = $1::bigint AND l.period = w.period AND l.scope = w.scope
    RETURNING 1
)
UPDATE scope_ladder_counts SET ladders = ladders - (SELECT count(*) FROM gone)
WHERE generation = $1::bigint
