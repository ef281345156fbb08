-- Count a board's ladders. $1 generation, locked by `lock_ladder_count`.
UPDATE scope_ladder_counts
SET ladders = (SELECT count(*) FROM scope_ladders AS l WHERE l.generation = $1::bigint)
WHERE generation = $1::bigint
