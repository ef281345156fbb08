-- Write rows, no two with the same board and key. $1 follower, $2 boards, $3 keys, $4 players, $5 values.
INSERT INTO derived (follower, board, key, player, value)
SELECT $1::text, * FROM unnest($2::text[], $3::bytea[], $4::bigint[], $5::bytea[])
ON CONFLICT (follower, board, key) DO UPDATE
SET player = excluded.player, value = excluded.value
