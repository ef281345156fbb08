-- Submissions that were revoked, where a player's history on a board begins, and restricted players: what
-- events say, found without reading them. A trigger keeps the tables up with the events, whoever records them:
-- processes of older versions, or a copy of a file.
CREATE TABLE revoked (
    position bigint PRIMARY KEY, -- of the submission
    event    bigint NOT NULL,    -- that revoked it
    at       bigint NOT NULL,
    reason   text NOT NULL
);

-- The last event that set or removed a player's entries on a board, whatever was submitted before
-- (`reset`), and the last of all that changed entries without a submission (`changed`).
CREATE TABLE histories (
    board   text COLLATE "C" NOT NULL,
    player  bigint NOT NULL,
    reset   bigint NOT NULL,
    changed bigint NOT NULL,
    PRIMARY KEY (board, player)
);

-- Changes of a board's rules that may have cost it periods.
CREATE TABLE layouts (
    board    text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (board, position)
);

CREATE FUNCTION note_history() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    said json := NEW.body::json;
    is_reset boolean := NEW.kind = 'removed'
        OR (NEW.kind = 'entries' AND said ->> 'is_refolded' IS DISTINCT FROM 'true');
BEGIN
    IF NEW.kind = 'board' THEN
        IF said ->> 'retained' IS NOT NULL THEN
            INSERT INTO layouts VALUES (said ->> 'board', NEW.position) ON CONFLICT DO NOTHING;
        END IF;
        RETURN NULL;
    END IF;
    IF NEW.kind = 'revoked' THEN
        INSERT INTO revoked
        VALUES ((said ->> 'submission')::bigint, NEW.position, NEW.recorded_at, said ->> 'reason')
        ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO histories AS h
    VALUES (
        said ->> 'board', (said ->> 'player')::bigint,
        CASE WHEN is_reset THEN NEW.position ELSE 0 END, NEW.position
    )
    ON CONFLICT (board, player) DO UPDATE
    SET reset = greatest(h.reset, excluded.reset), changed = greatest(h.changed, excluded.changed);
    RETURN NULL;
END $$;

CREATE TRIGGER note_history AFTER INSERT ON events
FOR EACH ROW WHEN (NEW.kind IN ('board', 'removed', 'entries', 'revoked', 'decided'))
EXECUTE FUNCTION note_history();

INSERT INTO histories
SELECT body::json ->> 'board', (body::json ->> 'player')::bigint, max(position), max(position)
FROM events WHERE kind IN ('removed', 'entries') GROUP BY 1, 2;

INSERT INTO layouts
SELECT body::json ->> 'board', position FROM events
WHERE kind = 'board' AND body::json ->> 'retained' IS NOT NULL;

-- Whether a player's attributes (JSON) have the reserved one; in a value the quotes would be escaped.
CREATE FUNCTION is_restricted(attributes text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT position('"~":' IN attributes) > 0;
$$;
CREATE INDEX players_restricted ON players (number) WHERE is_restricted(attributes);

-- `hold_cards`, which processes of older versions call, and those of the players that are restricted, with
-- their attributes. That is a statement of its own: it sees what was recorded while the cards were waited for.
CREATE FUNCTION take_cards(
    ids text[], of_board bigint, count bigint, locks_players boolean,
    OUT numbers bigint[], OUT attributes text[], OUT versions bigint[], OUT entries bytea[],
    OUT places tid[], OUT positions bigint[], OUT restricted bigint[], OUT restrictions text[]
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT held.numbers, held.attributes, held.versions, held.entries, held.places, held.positions
    INTO numbers, attributes, versions, entries, places, positions
    FROM hold_cards(ids, of_board, count, locks_players) AS held;
    SELECT array_agg(p.number), array_agg(p.attributes) INTO restricted, restrictions
    FROM players AS p WHERE is_restricted(p.attributes) AND p.number = ANY (numbers);
END $$;
