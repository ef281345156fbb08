-- A player's submissions on one board, newest first, and of each what is needed to count it again: follows the
-- chain from :start, at most :steps links, as player_submissions.sql does. Each row tells the link behind it, and
-- whether it is of the board: those of others are met where links to the same board are missing.
WITH RECURSIVE chain (step, is_here, link, position, at, score, subscore, route, status) AS (
    SELECT 1, r.generation = :generation,
        iif(r.generation = :generation, coalesce(s.here, s.previous), s.previous),
        s.position, s.at, s.score, s.subscore, s.route, s.status
    FROM submissions AS s JOIN routes AS r ON r.number = s.route
    WHERE s.position = :start
    UNION ALL
    SELECT chain.step + 1, r.generation = :generation,
        iif(r.generation = :generation, coalesce(s.here, s.previous), s.previous),
        s.position, s.at, s.score, s.subscore, s.route, s.status
    FROM chain
    JOIN submissions AS s ON s.position = chain.link
    JOIN routes AS r ON r.number = s.route
    WHERE chain.step < :steps
)
SELECT is_here, link, position, at, score, subscore, route, status FROM chain
