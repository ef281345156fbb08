-- Ladders besides those of everybody, which have a quota per board. A ladder is entered before the
-- first batch that needs it, in a transaction of its own, so that nobody waits for a batch. It is
-- taken out when the one player who was ever on it moves on, else by the next count after its last
-- entry has gone: nobody keeps account of all members.
CREATE TABLE scope_ladders (
    generation bigint NOT NULL,
    period     integer NOT NULL, -- its number in `names`
    scope      text COLLATE "C" NOT NULL,
    player     bigint,           -- the only one who was ever on it; NULL: there were others
    added_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (generation, period, scope)
);

CREATE TABLE scope_ladder_counts (
    generation bigint PRIMARY KEY,
    ladders    bigint NOT NULL DEFAULT 0,
    counted_at timestamptz -- when somebody last began to hold `ladders` against the cards
);

-- How many a board has; nobody else changes that until the transaction ends.
CREATE FUNCTION lock_ladder_count(of_board bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO scope_ladder_counts (generation) VALUES (of_board) ON CONFLICT DO NOTHING;
    RETURN (SELECT ladders FROM scope_ladder_counts WHERE generation = of_board FOR UPDATE);
END $$;

-- A number of a card (toprung.domain.card).
CREATE FUNCTION read_number(bytes bytea, at integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT (get_byte(bytes, at) << 24) | (get_byte(bytes, at + 1) << 16)
        | (get_byte(bytes, at + 2) << 8) | get_byte(bytes, at + 3);
$$;
