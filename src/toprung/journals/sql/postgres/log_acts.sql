-- Acts of administration, newest first. $1 below which position, $2 actor, $3 whether that is only its
-- kind, $4 board, $5 since, $6 until, $7 limit; what is NULL does not matter.
SELECT e.position, e.recorded_at, e.kind, e.body
FROM acts AS a JOIN events AS e ON e.position = a.position AND e.recorded_at = a.recorded_at
WHERE ($1::bigint IS NULL OR a.position < $1)
    AND ($2::text IS NULL OR CASE WHEN $3 THEN split_part(a.actor, ':', 1) ELSE a.actor END = $2)
    AND ($4::text IS NULL OR a.board = $4)
    AND ($5::bigint IS NULL OR a.recorded_at >= $5)
    AND ($6::bigint IS NULL OR a.recorded_at < $6)
ORDER BY a.position DESC LIMIT $7
