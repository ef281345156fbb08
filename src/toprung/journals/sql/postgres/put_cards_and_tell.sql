-- Write cards of one board and leave word for the index, in one go; returns the word's id.
-- $1 generation, $2 player numbers, $3 versions, $4 entries, $5 the greatest version,
-- $6 the first position of these submissions.
WITH put AS (
    INSERT INTO cards (generation, player, version, entries)
    SELECT $1::bigint, * FROM unnest($2::bigint[], $3::bigint[], $4::bytea[])
    ON CONFLICT (generation, player) DO UPDATE
    SET version = excluded.version, entries = excluded.entries
)
INSERT INTO outbox (generation, version, players, first)
VALUES ($1::bigint, $5::bigint, $2::bigint[], $6::bigint)
RETURNING id
