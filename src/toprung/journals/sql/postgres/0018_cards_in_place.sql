-- A card that is locked stays where it is until its transaction ends: submissions are told the place, and write
-- the new version there without looking for it again.

-- `lock_cards`, which processes of older versions call, with places; a place is NULL where there is no card.
CREATE FUNCTION hold_cards(
    ids text[], of_board bigint, count bigint, locks_players boolean,
    OUT numbers bigint[], OUT attributes text[], OUT versions bigint[], OUT entries bytea[],
    OUT places tid[], OUT positions bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    missing text[];
    made bigint[];
BEGIN
    IF locks_players THEN
        SELECT array_agg(p.number ORDER BY p.place), array_agg(p.attributes ORDER BY p.place)
        INTO numbers, attributes FROM lock_or_make(ids) AS p;
        SELECT array_agg(coalesce(held.version, 0)), array_agg(held.entries), array_agg(held.ctid)
        INTO versions, entries, places
        FROM (
            SELECT c.* FROM unnest(numbers) WITH ORDINALITY AS wanted (number, nth)
            LEFT JOIN LATERAL (
                SELECT cards.version, cards.entries, cards.ctid FROM cards
                WHERE generation = of_board AND player = wanted.number FOR NO KEY UPDATE
            ) AS c ON true
            ORDER BY wanted.nth
        ) AS held;
    ELSE
        SELECT array_agg(held.number), array_agg(coalesce(held.version, 0)), array_agg(held.entries),
            array_agg(held.ctid), array_agg(held.id) FILTER (WHERE held.version IS NULL)
        INTO numbers, versions, entries, places, missing
        FROM (
            SELECT wanted.id, p.number, c.* FROM unnest(ids) WITH ORDINALITY AS wanted (id, nth)
            LEFT JOIN LATERAL (SELECT number FROM players WHERE players.id = wanted.id) AS p ON true
            LEFT JOIN LATERAL (
                SELECT cards.version, cards.entries, cards.ctid FROM cards
                WHERE generation = of_board AND player = p.number FOR NO KEY UPDATE
            ) AS c ON true
            ORDER BY wanted.nth
        ) AS held;
        IF missing IS NOT NULL THEN
            SELECT array_agg(p.number ORDER BY p.place) INTO made FROM lock_or_make(missing) AS p;
            -- A statement of its own: it sees the cards that others made while this one waited.
            SELECT array_agg(coalesce(m.number, had.number) ORDER BY had.nth),
                array_agg(coalesce(m.version, had.version) ORDER BY had.nth),
                array_agg(coalesce(m.entries, had.entries) ORDER BY had.nth),
                array_agg(coalesce(m.ctid, had.place) ORDER BY had.nth)
            INTO numbers, versions, entries, places
            FROM unnest(ids, numbers, versions, entries, places)
                WITH ORDINALITY AS had (id, number, version, entries, place, nth)
            LEFT JOIN (
                SELECT late.id, late.number, coalesce(c.version, 0) AS version, c.entries, c.ctid
                FROM unnest(missing, made) AS late (id, number)
                LEFT JOIN LATERAL (
                    SELECT cards.version, cards.entries, cards.ctid FROM cards
                    WHERE generation = of_board AND player = late.number FOR NO KEY UPDATE
                ) AS c ON true
            ) AS m ON m.id = had.id;
        END IF;
    END IF;
    positions := draw_positions(count);
END $$;

-- Write new versions of cards that this transaction holds. Places are looked at one by one, whatever the plan
-- thinks of the table's size when it is made.
CREATE FUNCTION replace_held(places tid[], versions bigint[], entries bytea[]) RETURNS bigint
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    replaced bigint;
BEGIN
    UPDATE cards SET version = new.version, entries = new.entries
    FROM unnest(places, versions, replace_held.entries) AS new (place, version, entries)
    WHERE cards.ctid = new.place;
    GET DIAGNOSTICS replaced = ROW_COUNT;
    IF replaced <> cardinality(places) THEN
        RAISE serialization_failure USING MESSAGE = 'a card was not where it was held';
    END IF;
    RETURN replaced;
END $$;
