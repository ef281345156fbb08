-- Ladders besides those of everybody, which have a quota per board. A ladder is entered before the
-- first batch that needs it, in a transaction of its own, so that nobody waits for a batch. It is
-- taken out by the next count after its last entry has gone: nobody keeps account of members.
CREATE TABLE scope_ladders (
    generation bigint NOT NULL,
    period     integer NOT NULL, -- its number in `names`
    scope      text COLLATE "C" NOT NULL,
    added_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (generation, period, scope)
);

CREATE TABLE scope_ladder_counts (
    generation bigint PRIMARY KEY,
    ladders    bigint NOT NULL DEFAULT 0,
    counted_at timestamptz -- when `ladders` was last held against the cards
);

-- How many a board has; nobody else changes that until the transaction ends.
CREATE FUNCTION lock_ladder_count(of_board bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO scope_ladder_counts (generation) VALUES (of_board) ON CONFLICT DO NOTHING;
    RETURN (SELECT ladders FROM scope_ladder_counts WHERE generation = of_board FOR UPDATE);
END $$;

CREATE FUNCTION read_number(bytes bytea, at integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT (get_byte(bytes, at) << 24) | (get_byte(bytes, at + 1) << 16)
        | (get_byte(bytes, at + 2) << 8) | get_byte(bytes, at + 3);
$$;

-- Find out from a board's cards which ladders it has, apart from those of some periods. `width` is
-- that of an entry (toprung.domain.card). What was entered less than `grace` seconds ago stays:
-- the batch that needs it may not have been committed yet. Returns how many there are; NULL if
-- another process is counting.
CREATE FUNCTION count_ladders(
    of_board bigint, width integer, dead integer[], grace double precision
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock(21619, (of_board % 2147483647)::integer) THEN
        RETURN NULL;
    END IF;
    CREATE TEMPORARY TABLE used ON COMMIT DROP AS
    WITH heads AS (
        SELECT DISTINCT substring(c.entries FROM at FOR 8) AS head
        FROM cards AS c, generate_series(1, length(c.entries), width) AS at
        WHERE c.generation = of_board
    )
    SELECT DISTINCT read_number(h.head, 0) AS period, each.scope COLLATE "C" AS scope
    FROM heads AS h
    JOIN names AS n ON n.number = read_number(h.head, 4)
    CROSS JOIN LATERAL regexp_split_to_table(n.name, E'\n') AS each (scope)
    WHERE each.scope <> 'global' AND read_number(h.head, 0) <> ALL (dead);
    PERFORM lock_ladder_count(of_board);
    DELETE FROM scope_ladders AS l
    WHERE l.generation = of_board AND l.added_at < now() - make_interval(secs => grace)
        AND NOT EXISTS (SELECT FROM used AS u WHERE u.period = l.period AND u.scope = l.scope);
    INSERT INTO scope_ladders (generation, period, scope)
    SELECT of_board, u.period, u.scope FROM used AS u ON CONFLICT DO NOTHING;
    SELECT count(*) INTO found FROM scope_ladders AS l WHERE l.generation = of_board;
    UPDATE scope_ladder_counts SET ladders = found, counted_at = now()
    WHERE generation = of_board;
    RETURN found;
END $$;
