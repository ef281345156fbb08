-- Remember keys; returns one row for each that was free. A key that another batch has just used is
-- missing from the answer: then this batch is taken back and tried again.
-- $1 generation, $2 recorded_at, $3 the position up to which keys are forgotten, then columns.
INSERT INTO keys (generation, recorded_at, key, digest, position, status, outcome, player)
SELECT $1::bigint, $2::bigint, *
FROM unnest($4::bytea[], $5::bytea[], $6::bigint[], $7::smallint[], $8::bytea[], $9::bigint[])
ON CONFLICT (generation, key) DO UPDATE
SET recorded_at = excluded.recorded_at, digest = excluded.digest, position = excluded.position,
    status = excluded.status, outcome = excluded.outcome, player = excluded.player
WHERE keys.position <= $3::bigint
RETURNING key
