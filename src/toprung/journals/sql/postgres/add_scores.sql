-- Append submissions of one board. $1 recorded_at, $2 generation, then columns.
INSERT INTO events
    (kind, recorded_at, generation,
     position, player, at, score, subscore, route, status, details)
SELECT 'score', $1::bigint, $2::bigint, *
FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[],
            $9::smallint[], $10::bytea[])
