-- Lines of the journal: one row for each time that a process found itself in another history of this
-- database, because a standby was promoted or a backup restored. The last row is the present line.
CREATE TABLE journal_lines (
    number     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tag        text NOT NULL UNIQUE,   -- part of the names of its shards; random, '' in the first
    identity   text NOT NULL,          -- as line_identity() told when it began
    ended_at   bigint NOT NULL,        -- the line before has no position beyond this one,
    begins_at  bigint NOT NULL,        -- and this line none up to this one
    began_at   timestamptz NOT NULL DEFAULT now(),
    is_cleared boolean NOT NULL DEFAULT false -- whether the index of this line was dropped
);

-- What tells this history from any other: the server's identifier (a dump may be restored elsewhere),
-- its timeline (a new one begins with each promotion and each recovery to a point in time) and the
-- number of the table (a dump may be restored in place).
CREATE FUNCTION line_identity() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN concat_ws('.',
        (SELECT system_identifier FROM pg_control_system()),
        left(pg_walfile_name(pg_current_wal_lsn()), 8),
        to_regclass('journal_lines')::oid
    );
END $$;

INSERT INTO journal_lines (tag, identity, ended_at, begins_at)
SELECT '', line_identity(), 0, 0;

-- The present line and all before it. Where this is another history a line begins, once: numbers that
-- were drawn on the line before and are not known here must not be drawn again, so sequences are moved
-- on beyond them; leases went by another server's clock; no shard has reached anything.
CREATE FUNCTION arrive(OUT tag text, OUT former text[], OUT is_new boolean)
LANGUAGE plpgsql AS $$
DECLARE
    here text := line_identity();
    ended bigint;
BEGIN
    is_new := here IS DISTINCT FROM (SELECT l.identity FROM journal_lines AS l ORDER BY number DESC LIMIT 1);
    IF is_new THEN
        LOCK TABLE journal_lines IN EXCLUSIVE MODE;
        is_new := here IS DISTINCT FROM (SELECT l.identity FROM journal_lines AS l ORDER BY number DESC LIMIT 1);
    END IF;
    IF is_new THEN
        ended := nextval('positions');
        INSERT INTO journal_lines (tag, identity, ended_at, begins_at)
        VALUES (left(md5(gen_random_uuid()::text), 8), here, ended, setval('positions', ended + 1000000000));
        PERFORM setval(name, nextval(name) + further) FROM (VALUES
            (pg_get_serial_sequence('outbox', 'id')::regclass, 1000000000),
            (pg_get_serial_sequence('names', 'number')::regclass, 100000),
            ('lease_tokens'::regclass, 1000000)
        ) AS sequences (name, further);
        UPDATE leases SET ends_at = clock_timestamp() WHERE ends_at > clock_timestamp();
        DELETE FROM shards;
    END IF;
    SELECT l.tag INTO tag FROM journal_lines AS l ORDER BY number DESC LIMIT 1;
    former := ARRAY(SELECT l.tag FROM journal_lines AS l WHERE l.tag <> arrive.tag);
END $$;

-- `stretch_end` of migration 14, which does not go step by step through the positions between two lines.
CREATE OR REPLACE FUNCTION stretch_end(after bigint, length bigint, is_visible boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    begins bigint := greatest(after, (
        SELECT max(begins_at) FROM journal_lines WHERE ended_at <= after AND begins_at > after
    ));
    until bigint := least(settled_position(), begins + length);
    hidden bigint;
BEGIN
    IF is_visible AND until > after THEN
        SELECT coalesce(o.first, 0) INTO hidden FROM outbox AS o
        WHERE o.marked_at IS NULL AND o.version > after
        ORDER BY coalesce(o.first, 0) LIMIT 1;
        until := least(until, hidden - 1);
    END IF;
    RETURN greatest(until, after);
END $$;
