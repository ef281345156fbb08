-- Lock players (ids in order), read their cards on one board, draw positions. If one of the players
-- does not exist, `positions` is NULL; a card that does not exist is; `attributes` are there only if
-- they are asked for. Each statement sees what the one before it waited for, and looks players up
-- one by one whatever the plan: without statistics, a join would rather scan.
CREATE FUNCTION lock_batch(
    ids text[], of_board bigint, count bigint, with_attributes boolean,
    OUT numbers bigint[], OUT attributes text[], OUT entries bytea[], OUT positions bigint[]
) LANGUAGE plpgsql AS $$
BEGIN
    IF with_attributes THEN
        SELECT array_agg(p.number ORDER BY place), array_agg(p.attributes ORDER BY place)
        INTO numbers, attributes
        FROM unnest(ids) WITH ORDINALITY AS wanted (id, place)
        CROSS JOIN LATERAL (
            SELECT * FROM players WHERE players.id = wanted.id FOR NO KEY UPDATE
        ) AS p;
    ELSE
        numbers := ARRAY(
            SELECT p.number FROM unnest(ids) AS wanted (id)
            CROSS JOIN LATERAL (
                SELECT number FROM players WHERE players.id = wanted.id FOR NO KEY UPDATE
            ) AS p
        );
    END IF;
    IF cardinality(numbers) = cardinality(ids) THEN
        entries := read_cards(of_board, numbers);
        positions := draw_positions(count);
    END IF;
END $$;

-- The cards of players on one board, in their order; NULL where there is none.
CREATE FUNCTION read_cards(of_board bigint, numbers bigint[]) RETURNS bytea[]
LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(
        SELECT (
            SELECT c.entries FROM cards AS c
            WHERE c.generation = of_board AND c.player = wanted.number
        )
        FROM unnest(numbers) AS wanted (number)
    );
END $$;
