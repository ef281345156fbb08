-- Effects of a target, newest first. $1 target, $2 below this number, or NULL, $3 state, or NULL,
-- $4 how many.
SELECT * FROM effects
WHERE target = $1 AND ($2::bigint IS NULL OR number < $2::bigint)
    AND ($3::smallint IS NULL OR state = $3::smallint)
ORDER BY number DESC LIMIT $4
