-- Remove rows. $1 follower, $2 boards, $3 keys.
DELETE FROM derived AS d USING unnest($2::text[], $3::bytea[]) AS gone (board, key)
WHERE d.follower = $1 AND d.board = gone.board AND d.key = gone.key
