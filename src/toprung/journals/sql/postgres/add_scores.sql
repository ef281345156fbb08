-- Record submissions of one board, write the cards that they changed and leave word for the index, in one
-- go; returns the word's id, NULL if no card has changed.
-- $1 generation, $2 recorded_at, then columns of the submissions: $3 positions, $4 player numbers, $5 at,
-- $6 scores, $7 subscores, $8 routes, $9 statuses, $10 details; then the cards: $11 player numbers of all;
-- columns of those that are new: $12 player numbers, $13 versions, $14 entries; columns of those that this
-- transaction holds: $15 places, $16 versions, $17 entries; $18 the greatest version. A column of
-- submissions that has the same value in all of them may be empty: nothing, or of routes $19.
WITH recorded AS (
    INSERT INTO events (
        recorded_at, generation, kind, position, player, at, score, subscore, route, status, details
    )
    SELECT $2::bigint, $1::bigint, 'score', position, player, at, score, subscore,
        coalesce(route, $19::integer), status, details
    FROM unnest(
        $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[],
        $9::smallint[], $10::bytea[]
    ) AS s (position, player, at, score, subscore, route, status, details)
), made AS (
    INSERT INTO cards (generation, player, version, entries)
    SELECT $1::bigint, * FROM unnest($12::bigint[], $13::bigint[], $14::bytea[])
    ON CONFLICT (generation, player) DO UPDATE
    SET version = excluded.version, entries = excluded.entries
)
INSERT INTO outbox (generation, version, players, first)
SELECT $1::bigint, $18::bigint, $11::bigint[], ($3::bigint[])[1]
WHERE cardinality($11::bigint[]) > 0
    AND replace_held($15::tid[], $16::bigint[], $17::bytea[]) >= 0
RETURNING id
