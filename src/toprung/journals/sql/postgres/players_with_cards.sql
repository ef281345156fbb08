-- The players of a batch with their cards on one board; run after lock_players, as a statement of
-- its own, so that it sees what the lock was waited for. Joined laterally to both primary keys:
-- without statistics, "= ANY" would scan. $1 ids, $2 generation.
SELECT p.id, p.number, p.attributes, c.version, c.entries
FROM unnest($1::text[]) AS wanted (id)
CROSS JOIN LATERAL (SELECT * FROM players WHERE players.id = wanted.id) AS p
LEFT JOIN LATERAL (
    SELECT * FROM cards WHERE generation = $2::bigint AND player = p.number
) AS c ON true
