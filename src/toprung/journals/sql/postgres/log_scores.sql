-- The submissions of a stretch of the journal as one JSON text: to read them row by row takes a process
-- longer than to hash them. $1 after, $2 until.
SELECT string_agg(
    concat(
        '[', position, ',', recorded_at, ',', route, ',', player, ',', at, ',', score, ',',
        coalesce(subscore::text, 'null'), ',', status, ']'
    ), ',' ORDER BY position
)
FROM events WHERE position > $1 AND position <= $2 AND kind = 'score'
