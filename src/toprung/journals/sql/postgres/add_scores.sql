-- Record submissions of one board, write the cards that they changed and leave word for the index, in one
-- go; returns the word's id, NULL if no card has changed.
-- $1 generation, $2 recorded_at, then columns of the submissions: $3 positions, $4 player numbers, $5 at,
-- $6 scores, $7 subscores, $8 routes, $9 statuses, $10 details; then columns of the cards: $11 player
-- numbers, $12 versions, $13 entries; $14 the greatest version.
WITH recorded AS (
    INSERT INTO events (
        recorded_at, generation, kind, position, player, at, score, subscore, route, status, details
    )
    SELECT $2::bigint, $1::bigint, 'score', *
    FROM unnest(
        $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[],
        $9::smallint[], $10::bytea[]
    )
), put AS (
    INSERT INTO cards (generation, player, version, entries)
    SELECT $1::bigint, * FROM unnest($11::bigint[], $12::bigint[], $13::bytea[])
    ON CONFLICT (generation, player) DO UPDATE
    SET version = excluded.version, entries = excluded.entries
)
INSERT INTO outbox (generation, version, players, first)
SELECT $1::bigint, $14::bigint, $11::bigint[], ($3::bigint[])[1]
WHERE cardinality($11::bigint[]) > 0
RETURNING id
