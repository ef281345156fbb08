-- The events of some kinds in a stretch of the journal. $1 after, $2 until, $3 kinds.
SELECT e.position, e.recorded_at, e.kind, e.body, e.generation, e.player, e.at, e.score,
    e.subscore, e.status, n.name AS route
FROM events AS e LEFT JOIN names AS n ON n.number = e.route
WHERE e.position > $1 AND e.position <= $2 AND e.kind = ANY ($3::text[])
ORDER BY e.position
