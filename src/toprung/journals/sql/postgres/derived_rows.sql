-- key, value of a board's rows, greatest keys first. $1 follower, $2 board, $3 below this key, or NULL,
-- $4 how many.
SELECT key, value FROM derived
WHERE follower = $1 AND board = $2 AND ($3::bytea IS NULL OR key < $3::bytea)
    AND EXISTS (SELECT FROM followers WHERE name = $1)
ORDER BY key DESC LIMIT $4
