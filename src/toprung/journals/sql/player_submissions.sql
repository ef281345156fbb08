-- A player's submissions on one board, newest first: follows the chain of `previous` from :start,
-- at most :steps links (the chain crosses boards), and returns at most :limit rows. The last of
-- :steps links is returned whatever its board, with the link behind it. The chain is in order
-- already; asking for an order would walk all of it before the first row is returned.
WITH RECURSIVE chain (position, step) AS (
    SELECT :start, 1
    UNION ALL
    SELECT s.previous, chain.step + 1
    FROM chain JOIN submissions AS s ON s.position = chain.position
    WHERE s.previous > 0 AND chain.step < :steps
)
SELECT r.board = :board AND r.generation = :generation, iif(chain.step = :steps, s.previous, 0),
    s.position, s.score, s.subscore, s.at, s.recorded_at, s.status, d.body
FROM chain
JOIN submissions AS s ON s.position = chain.position
JOIN routes AS r ON r.number = s.route
LEFT JOIN details AS d ON d.position = s.position
WHERE (r.board = :board AND r.generation = :generation) OR chain.step = :steps
LIMIT :limit
