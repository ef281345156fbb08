-- Formats of events (toprung.domain.events) while processes of two versions are at work: what one of
-- them could not read is not written.
ALTER TABLE clocks ADD COLUMN reads integer NOT NULL DEFAULT 1; -- the highest format; older versions do not tell

-- The highest format that may be written; who reads less may not begin to work. One row, which whoever
-- begins and whoever raises it lock, so that neither misses the other.
CREATE TABLE event_formats (written integer NOT NULL);
INSERT INTO event_formats VALUES (1);

-- `tell_clock` of migration 7, which older versions call, and what the process reads; also hears what
-- may be written.
CREATE FUNCTION tell_clock(
    mine uuid, my_name text, my_reading bigint, my_expected bigint, still_open boolean, i_read integer,
    OUT confirmed bigint, OUT forgotten bigint, OUT lowest bigint, OUT highest bigint, OUT format integer
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT t.* INTO confirmed, forgotten, lowest, highest
    FROM tell_clock(mine, my_name, my_reading, my_expected, still_open) AS t;
    UPDATE clocks SET reads = i_read WHERE process = mine AND reads <> i_read;
    SELECT written INTO format FROM event_formats FOR SHARE;
END $$;

-- Let a format be written, unless somebody at work reads less: who that is.
CREATE FUNCTION raise_event_format(wanted integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM written FROM event_formats FOR UPDATE;
    IF wanted <= (SELECT written FROM event_formats) THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT name FROM clocks
    WHERE is_open AND told_at > clock_timestamp() - interval '5 minutes' AND reads < wanted
    ORDER BY name;
    IF NOT FOUND THEN
        UPDATE event_formats SET written = wanted;
    END IF;
END $$;
