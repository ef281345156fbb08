-- position, details. $1 positions.
SELECT e.position, e.details
FROM unnest($1::bigint[]) AS wanted (position)
CROSS JOIN LATERAL (
    SELECT events.position, details FROM events
    WHERE events.position = wanted.position AND details IS NOT NULL
) AS e
