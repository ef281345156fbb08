-- The events of some kinds in a stretch of the journal, of submissions only the newest that were accepted.
-- $1 after, $2 until, $3 kinds besides submissions, $4 how many, $5 whether per route, else per board.
WITH placed AS (
    SELECT e.*, row_number() OVER (
        PARTITION BY e.kind = 'score', CASE WHEN $5::boolean THEN e.route ELSE e.generation END
        ORDER BY e.position DESC
    ) AS place
    FROM events AS e
    WHERE e.position > $1 AND e.position <= $2
        AND (e.kind = ANY ($3::text[]) OR e.kind = 'score' AND e.status = 1)
)
SELECT p.position, p.recorded_at, p.kind, p.body, p.generation, p.player, p.at, p.score,
    p.subscore, p.status, n.name AS route
FROM placed AS p LEFT JOIN names AS n ON n.number = p.route
WHERE p.kind <> 'score' OR p.place <= $4::bigint
ORDER BY p.position
