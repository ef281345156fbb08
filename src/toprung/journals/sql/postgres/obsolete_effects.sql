-- Numbers of settled effects that may go: those of before a time, and of each target all but the newest.
-- $1 the time, $2 how many a target keeps, $3 how many are answered.
WITH RECURSIVE targets AS (
    (SELECT target FROM effects ORDER BY target LIMIT 1)
    UNION ALL
    SELECT (SELECT e.target FROM effects AS e WHERE e.target > t.target ORDER BY e.target LIMIT 1)
    FROM targets AS t WHERE t.target IS NOT NULL
), old AS (
    SELECT number FROM effects WHERE state <> 0 AND attempted_at < $1::bigint
    ORDER BY attempted_at LIMIT $3
), many AS (
    SELECT e.number
    FROM targets AS t
    CROSS JOIN LATERAL (
        SELECT number FROM effects WHERE effects.target = t.target AND state <> 0
        ORDER BY number DESC OFFSET $2::bigint LIMIT 1
    ) AS last
    CROSS JOIN LATERAL (
        SELECT number FROM effects
        WHERE effects.target = t.target AND state <> 0 AND number <= last.number
        ORDER BY number LIMIT $3
    ) AS e
    LIMIT $3
)
SELECT number FROM old UNION SELECT number FROM many LIMIT $3
