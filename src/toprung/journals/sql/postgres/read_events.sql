-- Events after a position, up to one behind which nothing can appear. $1 after, $2 until, $3 limit.
SELECT e.position, e.recorded_at, e.kind, e.body, e.generation, e.player, e.at, e.score,
    e.subscore, e.status, n.name AS route
FROM events AS e LEFT JOIN names AS n ON n.number = e.route
WHERE e.position > $1 AND e.position <= $2
ORDER BY e.position LIMIT $3
