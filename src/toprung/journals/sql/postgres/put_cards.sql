-- Write cards of one board. $1 generation, $2 player numbers, $3 versions, $4 entries.
INSERT INTO cards (generation, player, version, entries)
SELECT $1::bigint, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[])
ON CONFLICT (generation, player) DO UPDATE
SET version = excluded.version, entries = excluded.entries
