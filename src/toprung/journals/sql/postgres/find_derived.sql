-- board, key, value of rows. $1 follower, $2 boards, $3 keys.
SELECT d.board, d.key, d.value
FROM unnest($2::text[], $3::bytea[]) AS wanted (board, key)
CROSS JOIN LATERAL (
    SELECT * FROM derived
    WHERE follower = $1 AND derived.board = wanted.board AND derived.key = wanted.key
) AS d
WHERE EXISTS (SELECT FROM followers WHERE name = $1)
