-- Followers that have rows and no position. They are found one after the other by the index: there may be
-- many rows and few followers.
WITH RECURSIVE found AS (
    (SELECT follower AS name FROM derived ORDER BY follower LIMIT 1)
    UNION ALL
    SELECT (
        SELECT d.follower FROM derived AS d WHERE d.follower > f.name ORDER BY d.follower LIMIT 1
    )
    FROM found AS f WHERE f.name IS NOT NULL
)
SELECT name FROM found WHERE name IS NOT NULL AND name NOT IN (SELECT name FROM followers)
