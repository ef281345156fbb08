-- A player's submissions on one board, newest first. $1 player id, $2 generation, $3 before, $4 limit.
SELECT e.position, e.score, e.subscore, e.at, e.recorded_at, e.status, e.details,
    v.at AS revoked_at, v.reason
FROM events AS e
LEFT JOIN revoked AS v ON v.position = e.position
WHERE e.player = (SELECT number FROM players WHERE id = $1) AND e.kind = 'score'
    AND e.generation = $2 AND e.position < $3
ORDER BY e.position DESC LIMIT $4
