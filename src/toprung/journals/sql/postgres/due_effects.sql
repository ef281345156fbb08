-- Effects that wait and are due, of each target the oldest, as many as are free. Targets are found one
-- after the other by the index: there may be many effects and few targets.
-- $1 now, $2 how many per target, $3 targets and $4 numbers of those under way, $5 what is due after this
-- time was put off by a clock that was wrong.
WITH RECURSIVE targets AS (
    (SELECT target FROM effects WHERE state = 0 ORDER BY target LIMIT 1)
    UNION ALL
    SELECT (
        SELECT e.target FROM effects AS e
        WHERE e.state = 0 AND e.target > t.target ORDER BY e.target LIMIT 1
    )
    FROM targets AS t WHERE t.target IS NOT NULL
)
SELECT e.*
FROM targets AS t
CROSS JOIN LATERAL (
    SELECT count(*) AS rows FROM unnest($3::text[]) AS under_way (target)
    WHERE under_way.target = t.target
) AS busy
CROSS JOIN LATERAL (
    (
        SELECT * FROM effects
        WHERE state = 0 AND effects.target = t.target AND due_at <= $1::bigint
            AND number <> ALL ($4::bigint[])
        ORDER BY due_at, number LIMIT greatest(0, $2::bigint - busy.rows)
    )
    UNION ALL
    (
        SELECT * FROM effects
        WHERE state = 0 AND effects.target = t.target AND due_at > $5::bigint
            AND number <> ALL ($4::bigint[])
        ORDER BY due_at, number LIMIT greatest(0, $2::bigint - busy.rows)
    )
    LIMIT greatest(0, $2::bigint - busy.rows)
) AS e
WHERE t.target IS NOT NULL
