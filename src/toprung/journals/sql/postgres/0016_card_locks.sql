-- Submissions lock the cards that they change. Players are locked only where their attributes count, where
-- they have no card yet, or where processes of older versions, which lock nothing else, are still at work.
-- So most submissions neither write to `players` nor wait for what else happens to a player.
--
-- Order of locks: rules of boards, players by id, cards by board and id of the player. Players without a card
-- are locked after the cards of the others: whoever loses that race is tried again.

-- Lock the players' cards on one board, make players that do not exist, draw positions.
-- Everything is told in the order of the ids, which are sorted; version 0: there is no card.
CREATE FUNCTION lock_cards(
    ids text[], of_board bigint, count bigint, locks_players boolean,
    OUT numbers bigint[], OUT attributes text[], OUT versions bigint[], OUT entries bytea[],
    OUT positions bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    missing text[];
    made bigint[];
BEGIN
    IF locks_players THEN
        SELECT array_agg(p.number ORDER BY place), array_agg(p.attributes ORDER BY place)
        INTO numbers, attributes FROM lock_or_make(ids) AS p;
        SELECT array_agg(coalesce(c.version, 0) ORDER BY place), array_agg(c.entries ORDER BY place)
        INTO versions, entries
        FROM unnest(numbers) WITH ORDINALITY AS wanted (number, place)
        LEFT JOIN LATERAL (
            SELECT cards.version, cards.entries FROM cards
            WHERE generation = of_board AND player = wanted.number FOR NO KEY UPDATE
        ) AS c ON true;
    ELSE
        SELECT array_agg(p.number ORDER BY place), array_agg(coalesce(c.version, 0) ORDER BY place),
            array_agg(c.entries ORDER BY place),
            array_agg(wanted.id ORDER BY place) FILTER (WHERE c.version IS NULL)
        INTO numbers, versions, entries, missing
        FROM unnest(ids) WITH ORDINALITY AS wanted (id, place)
        LEFT JOIN LATERAL (SELECT number FROM players WHERE players.id = wanted.id) AS p ON true
        LEFT JOIN LATERAL (
            SELECT cards.version, cards.entries FROM cards
            WHERE generation = of_board AND player = p.number FOR NO KEY UPDATE
        ) AS c ON true;
        IF missing IS NOT NULL THEN
            SELECT array_agg(p.number ORDER BY p.place) INTO made FROM lock_or_make(missing) AS p;
            -- A statement of its own: it sees the cards that others made while this one waited.
            SELECT array_agg(coalesce(m.number, had.number) ORDER BY had.place),
                array_agg(coalesce(m.version, had.version) ORDER BY had.place),
                array_agg(coalesce(m.entries, had.entries) ORDER BY had.place)
            INTO numbers, versions, entries
            FROM unnest(ids, numbers, versions, entries)
                WITH ORDINALITY AS had (id, number, version, entries, place)
            LEFT JOIN (
                SELECT late.id, late.number, coalesce(c.version, 0) AS version, c.entries
                FROM unnest(missing, made) AS late (id, number)
                LEFT JOIN LATERAL (
                    SELECT cards.version, cards.entries FROM cards
                    WHERE generation = of_board AND player = late.number FOR NO KEY UPDATE
                ) AS c ON true
            ) AS m ON m.id = had.id;
        END IF;
    END IF;
    positions := draw_positions(count);
END $$;

-- Lock players, and make those that do not exist, in the order of the ids, which are sorted.
CREATE FUNCTION lock_or_make(ids text[])
RETURNS TABLE (place bigint, number bigint, attributes text) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO players (id)
    SELECT each FROM unnest(ids) AS each
    WHERE NOT EXISTS (SELECT FROM players WHERE players.id = each)
    ORDER BY each COLLATE "C"
    ON CONFLICT (id) DO NOTHING;
    RETURN QUERY
    SELECT wanted.place, p.number, p.attributes
    FROM unnest(ids) WITH ORDINALITY AS wanted (id, place)
    CROSS JOIN LATERAL (
        SELECT players.number, players.attributes FROM players
        WHERE players.id = wanted.id FOR NO KEY UPDATE
    ) AS p;
    GET DIAGNOSTICS place = ROW_COUNT;
    IF place <> cardinality(ids) THEN -- somebody was erased in between: the batch is tried again
        RAISE serialization_failure USING MESSAGE = 'a player was erased meanwhile';
    END IF;
END $$;
