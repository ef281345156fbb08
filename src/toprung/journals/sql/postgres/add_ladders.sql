-- Enter ladders, and count them. $1 generation, $2 numbers of periods, $3 scopes, $4 players.
WITH added AS (
    INSERT INTO scope_ladders (generation, period, scope, player)
    SELECT $1::bigint, * FROM unnest($2::integer[], $3::text[], $4::bigint[])
    ON CONFLICT DO NOTHING
    RETURNING 1
)
UPDATE scope_ladder_counts SET ladders = ladders + (SELECT count(*) FROM added)
WHERE generation = $1::bigint
