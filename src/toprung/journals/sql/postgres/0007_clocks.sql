-- What a cluster destroys goes by time that is confirmed: by more than one look at more than one
-- clock. Clocks of processes may be wrong, so their dates are never compared with the server's; how
-- much time has passed is.

-- Hours of the server's time in which some process was at work. One begins when an hour or more has
-- passed since the last began. The server's clock may be set: ahead, that is one more hour; back,
-- and the last one begins again.
CREATE TABLE hours (
    number   bigint PRIMARY KEY, -- without a gap
    began_at timestamptz NOT NULL,
    position bigint NOT NULL,    -- no greater one had been drawn
    lowest   bigint NOT NULL     -- the lowest that any process's clock said
);

-- Processes and what their clocks said when they last told. The rows of those that have ended say
-- what time it was, until a newer one does.
CREATE TABLE clocks (
    process  uuid PRIMARY KEY,
    name     text NOT NULL,      -- for people: host and process id
    reading  bigint NOT NULL,    -- what its clock said
    expected bigint NOT NULL,    -- what it should have said
    told_at  timestamptz NOT NULL,
    is_open  boolean NOT NULL
);

-- Keys are forgotten by their age in hours, which positions tell.
CREATE INDEX keys_by_position ON keys (position);
DROP INDEX keys_by_age;

-- The microseconds since a moment.
CREATE FUNCTION passed_since(moment timestamptz) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp() - moment) * 1000000)::bigint;
$$;

-- What may be destroyed is what was obsolete at this time by Toprung's clocks: the lowest that any
-- of them has said in this hour and the one before. NULL until there are two.
CREATE FUNCTION confirmed_time() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN count(*) = 2 THEN min(lowest) END FROM hours
    WHERE number > (SELECT max(number) FROM hours) - 2;
$$;

-- Note that a clock says this.
CREATE FUNCTION note_reading(reading bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    last hours;
BEGIN
    SELECT * INTO last FROM hours ORDER BY number DESC LIMIT 1 FOR UPDATE;
    IF last.number IS NULL OR clock_timestamp() - last.began_at >= interval '1 hour' THEN
        INSERT INTO hours
        SELECT coalesce(last.number, 0) + 1, clock_timestamp(),
            CASE WHEN is_called THEN last_value ELSE 0 END, reading
        FROM positions
        ON CONFLICT (number) DO NOTHING; -- another process has begun it
        DELETE FROM hours WHERE number < last.number - 60;
    END IF;
    UPDATE hours SET lowest = least(lowest, reading), began_at = least(began_at, clock_timestamp())
    WHERE number = (SELECT max(number) FROM hours)
        AND (lowest > reading OR began_at > clock_timestamp());
END $$;

-- A process tells what its clock says, and hears what others say: the confirmed time, the position
-- up to which keys are forgotten, and the lowest and highest of the others' clocks.
CREATE FUNCTION tell_clock(
    mine uuid, my_name text, my_reading bigint, my_expected bigint, still_open boolean,
    OUT confirmed bigint, OUT forgotten bigint, OUT lowest bigint, OUT highest bigint
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note_reading(my_reading);
    INSERT INTO clocks VALUES (
        mine, my_name, my_reading, my_expected, clock_timestamp(), still_open
    )
    ON CONFLICT (process) DO UPDATE SET reading = excluded.reading, expected = excluded.expected,
        told_at = excluded.told_at, is_open = excluded.is_open;
    DELETE FROM clocks WHERE told_at < clock_timestamp() - interval '1 day'
        AND told_at < (SELECT max(told_at) FROM clocks);
    confirmed := confirmed_time();
    SELECT coalesce(max(h.position), 0) INTO forgotten
    FROM hours AS h WHERE h.number = (SELECT max(number) FROM hours) - 48;
    SELECT min(c.reading + passed_since(c.told_at)), max(c.reading + passed_since(c.told_at))
    INTO lowest, highest
    FROM clocks AS c
    WHERE c.process <> mine AND c.is_open AND c.told_at > clock_timestamp() - interval '5 minutes';
END $$;
