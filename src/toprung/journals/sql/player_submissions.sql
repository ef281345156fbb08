-- A player's submissions on one board, newest first: follows the chain from :start, at most :steps links,
-- and returns at most :limit rows. Submissions on the board lead to the one before them there; those on
-- other boards, which are met where that link is missing, to the one before them on any board. The last
-- of :steps links is returned whatever its board, with the link behind it. The chain is in order already;
-- asking for an order would walk all of it before the first row is returned.
WITH RECURSIVE chain (position, step) AS (
    SELECT :start, 1
    UNION ALL
    SELECT iif(r.generation = :generation, coalesce(s.here, s.previous), s.previous), chain.step + 1
    FROM chain
    JOIN submissions AS s ON s.position = chain.position
    JOIN routes AS r ON r.number = s.route
    WHERE chain.step < :steps
)
SELECT r.generation = :generation,
    iif(chain.step < :steps, 0, iif(r.generation = :generation, coalesce(s.here, s.previous), s.previous)),
    s.position, s.score, s.subscore, s.at, s.recorded_at, s.status, d.body, v.at, v.reason
FROM chain
JOIN submissions AS s ON s.position = chain.position
JOIN routes AS r ON r.number = s.route
LEFT JOIN details AS d ON d.position = s.position
LEFT JOIN revoked AS v ON v.position = s.position
WHERE r.generation = :generation OR chain.step = :steps
LIMIT :limit
