-- How many effects wait and how many are dead, by target, and when the oldest that waits was written.
SELECT target, count(*) FILTER (WHERE state = 0) AS waiting, count(*) FILTER (WHERE state = 2) AS dead,
    min(created_at) FILTER (WHERE state = 0) AS oldest_at
FROM (
    SELECT target, state, created_at FROM effects WHERE state = 0
    UNION ALL
    SELECT target, state, created_at FROM effects WHERE state = 2
) AS found
GROUP BY target
