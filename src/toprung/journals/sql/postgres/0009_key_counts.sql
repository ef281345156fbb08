-- How many new idempotency keys there were, by board and owner, in spans of 24 of the `hours`.
--
-- Submissions do not touch this table. Each process adds what it has recorded about once a minute,
-- and hears what all of them have: a counter that every batch updates would make all of them wait
-- for each other. A process that is killed takes up to a minute of its counts with it.
CREATE TABLE key_counts (
    span       bigint NOT NULL, -- number of the hour, by 24
    generation bigint NOT NULL,
    owner      text COLLATE "C" NOT NULL,
    keys       bigint NOT NULL,
    PRIMARY KEY (span, generation, owner)
);

-- Add counts, and hear those of the present span: of boards (`owner` is NULL) and owners
-- (`generation` is NULL) that have at least so many, and in all (both are NULL). Every row says how
-- many seconds the span still has.
CREATE FUNCTION tell_keys(
    generations bigint[], owners text[], counts bigint[], board_min bigint, owner_min bigint
) RETURNS TABLE (generation bigint, owner text, keys bigint, seconds_left bigint)
LANGUAGE plpgsql AS $$
DECLARE
    hour hours;
BEGIN
    SELECT * INTO hour FROM hours AS h ORDER BY h.number DESC LIMIT 1;
    INSERT INTO key_counts AS k
    SELECT hour.number / 24, *
    FROM unnest(generations, owners, counts) AS new (of_board, of_owner, of_keys)
    ORDER BY of_board, of_owner COLLATE "C" -- the same order for everybody: nobody locks in turn
    ON CONFLICT ON CONSTRAINT key_counts_pkey DO UPDATE SET keys = k.keys + excluded.keys;
    DELETE FROM key_counts AS k WHERE k.span < hour.number / 24;
    RETURN QUERY
    SELECT k.generation, k.owner, coalesce(sum(k.keys), 0)::bigint,
        greatest(1, (24 - hour.number % 24) * 3600 - passed_since(hour.began_at) / 1000000)
    FROM key_counts AS k WHERE k.span = hour.number / 24
    GROUP BY GROUPING SETS ((k.generation), (k.owner), ())
    HAVING grouping(k.generation, k.owner) = 3
        OR grouping(k.generation, k.owner) = 1 AND sum(k.keys) >= board_min
        OR grouping(k.generation, k.owner) = 2 AND sum(k.keys) >= owner_min;
END $$;
