CREATE SCHEMA postgres_0010;
CREATE TABLE postgres_0010.boards (
    id text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    version bigint NOT NULL,
    rules text NOT NULL
);
CREATE FUNCTION postgres_0010.begin_batch(batch uuid, ids text[]) RETURNS SETOF postgres_0010.boards
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO batches (id) VALUES (batch);
    PERFORM pg_advisory_xact_lock_shared(21616, sorted.hash) FROM
        (SELECT DISTINCT hashtext(each) AS hash FROM unnest(ids) AS each ORDER BY hash) AS sorted;
    RETURN QUERY SELECT b.* FROM boards AS b WHERE b.id = ANY (ids);
END $$;
CREATE FUNCTION postgres_0010.confirmed_time() RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
    SELECT CASE WHEN count(*) = 2 THEN min(lowest) END FROM hours
    WHERE number > (SELECT max(number) FROM hours) - 2;
$$;
CREATE FUNCTION postgres_0010.draw_positions(count bigint) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    bound bigint;
BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO bound FROM positions;
    PERFORM pg_advisory_xact_lock_shared((x'5470'::bigint << 48) | bound);
    RETURN ARRAY(SELECT nextval('positions') FROM generate_series(1, count));
END $$;
CREATE FUNCTION postgres_0010.lock_batch(ids text[], of_board bigint, count bigint, with_attributes boolean, OUT numbers bigint[], OUT attributes text[], OUT entries bytea[], OUT positions bigint[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION postgres_0010.lock_ladder_count(of_board bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO scope_ladder_counts (generation) VALUES (of_board) ON CONFLICT DO NOTHING;
    RETURN (SELECT ladders FROM scope_ladder_counts WHERE generation = of_board FOR UPDATE);
END $$;
CREATE FUNCTION postgres_0010.lock_players(ids text[]) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO players (id)
    SELECT each FROM unnest(ids) AS each ORDER BY each COLLATE "C"
    ON CONFLICT (id) DO UPDATE SET name = players.name WHERE false;
$$;
CREATE FUNCTION postgres_0010.note_reading(reading bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION postgres_0010.passed_since(moment timestamp with time zone) RETURNS bigint
    LANGUAGE sql
    AS $$
    SELECT (extract(epoch FROM clock_timestamp() - moment) * 1000000)::bigint;
$$;
CREATE FUNCTION postgres_0010.read_cards(of_board bigint, numbers bigint[]) RETURNS bytea[]
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN ARRAY(
        SELECT (
            SELECT c.entries FROM cards AS c
            WHERE c.generation = of_board AND c.player = wanted.number
        )
        FROM unnest(numbers) AS wanted (number)
    );
END $$;
CREATE FUNCTION postgres_0010.read_number(bytes bytea, at integer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT (get_byte(bytes, at) << 24) | (get_byte(bytes, at + 1) << 16)
        | (get_byte(bytes, at + 2) << 8) | get_byte(bytes, at + 3);
$$;
CREATE FUNCTION postgres_0010.settled_position() RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    drawn bigint;
    bound bigint;
BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO drawn FROM positions;
    SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) INTO bound
    FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = x'5470'::bigint
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
    RETURN least(drawn, bound);
END $$;
CREATE FUNCTION postgres_0010.tell_clock(mine uuid, my_name text, my_reading bigint, my_expected bigint, still_open boolean, OUT confirmed bigint, OUT forgotten bigint, OUT lowest bigint, OUT highest bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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
CREATE FUNCTION postgres_0010.tell_keys(generations bigint[], owners text[], counts bigint[], board_min bigint, owner_min bigint) RETURNS TABLE(generation bigint, owner text, keys bigint, seconds_left bigint)
    LANGUAGE plpgsql
    AS $$
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
CREATE TABLE postgres_0010.access_keys (
    id text NOT NULL,
    name text NOT NULL,
    verbs text[] NOT NULL,
    boards text[] NOT NULL,
    digest bytea NOT NULL,
    created_at bigint NOT NULL,
    last_used_at bigint,
    owner text
);
CREATE TABLE postgres_0010.batches (
    id uuid NOT NULL,
    written_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE postgres_0010.cards (
    generation bigint NOT NULL,
    player bigint NOT NULL,
    version bigint NOT NULL,
    entries bytea NOT NULL
)
WITH (fillfactor='75', autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY postgres_0010.cards ALTER COLUMN entries SET STORAGE EXTERNAL;
CREATE TABLE postgres_0010.clocks (
    process uuid NOT NULL,
    name text NOT NULL,
    reading bigint NOT NULL,
    expected bigint NOT NULL,
    told_at timestamp with time zone NOT NULL,
    is_open boolean NOT NULL
);
CREATE TABLE postgres_0010.copies (
    database text NOT NULL,
    head bigint NOT NULL,
    copied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE postgres_0010.events (
    "position" bigint NOT NULL,
    recorded_at bigint NOT NULL,
    generation bigint,
    player bigint,
    at bigint,
    score bigint,
    subscore bigint,
    route integer,
    status smallint,
    kind text NOT NULL,
    details bytea,
    body text
)
PARTITION BY RANGE (recorded_at);
CREATE TABLE postgres_0010.events_2026_11 (
    "position" bigint NOT NULL,
    recorded_at bigint NOT NULL,
    generation bigint,
    player bigint,
    at bigint,
    score bigint,
    subscore bigint,
    route integer,
    status smallint,
    kind text NOT NULL,
    details bytea,
    body text
);
CREATE TABLE postgres_0010.events_2026_12 (
    "position" bigint NOT NULL,
    recorded_at bigint NOT NULL,
    generation bigint,
    player bigint,
    at bigint,
    score bigint,
    subscore bigint,
    route integer,
    status smallint,
    kind text NOT NULL,
    details bytea,
    body text
);
CREATE TABLE postgres_0010.events_2027_01 (
    "position" bigint NOT NULL,
    recorded_at bigint NOT NULL,
    generation bigint,
    player bigint,
    at bigint,
    score bigint,
    subscore bigint,
    route integer,
    status smallint,
    kind text NOT NULL,
    details bytea,
    body text
);
CREATE TABLE postgres_0010.events_default (
    "position" bigint NOT NULL,
    recorded_at bigint NOT NULL,
    generation bigint,
    player bigint,
    at bigint,
    score bigint,
    subscore bigint,
    route integer,
    status smallint,
    kind text NOT NULL,
    details bytea,
    body text
);
CREATE TABLE postgres_0010.friends (
    player bigint NOT NULL,
    friend bigint NOT NULL
);
CREATE TABLE postgres_0010.graves (
    generation bigint NOT NULL
);
CREATE TABLE postgres_0010.hours (
    number bigint NOT NULL,
    began_at timestamp with time zone NOT NULL,
    "position" bigint NOT NULL,
    lowest bigint NOT NULL
);
CREATE TABLE postgres_0010.key_counts (
    span bigint NOT NULL,
    generation bigint NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    keys bigint NOT NULL
);
CREATE TABLE postgres_0010.keys (
    generation bigint NOT NULL,
    key bytea NOT NULL,
    digest bytea,
    "position" bigint NOT NULL,
    recorded_at bigint NOT NULL,
    status smallint NOT NULL,
    outcome bytea NOT NULL,
    player bigint NOT NULL
);
CREATE TABLE postgres_0010.migrations (
    number integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE postgres_0010.names (
    number integer NOT NULL,
    generation bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE postgres_0010.names ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postgres_0010.names_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE postgres_0010.outbox (
    id bigint NOT NULL,
    generation bigint NOT NULL,
    shard smallint DEFAULT 0 NOT NULL,
    version bigint NOT NULL,
    players bigint[] NOT NULL,
    erased text[] DEFAULT '{}'::text[] NOT NULL,
    written_at timestamp with time zone DEFAULT now() NOT NULL,
    marked_at timestamp with time zone
)
WITH (fillfactor='70');
ALTER TABLE postgres_0010.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postgres_0010.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE postgres_0010.players (
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    name text,
    avatar_url text,
    attributes text DEFAULT '{}'::text NOT NULL,
    folded text COLLATE pg_catalog."C"
)
WITH (fillfactor='85');
ALTER TABLE postgres_0010.players ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME postgres_0010.players_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE postgres_0010.positions
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE postgres_0010.scope_ladder_counts (
    generation bigint NOT NULL,
    ladders bigint DEFAULT 0 NOT NULL,
    counted_at timestamp with time zone
);
CREATE TABLE postgres_0010.scope_ladders (
    generation bigint NOT NULL,
    period integer NOT NULL,
    scope text NOT NULL COLLATE pg_catalog."C",
    player bigint,
    added_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE postgres_0010.shards (
    generation bigint NOT NULL,
    shard smallint NOT NULL,
    mark bigint NOT NULL,
    server text NOT NULL
);
ALTER TABLE ONLY postgres_0010.events ATTACH PARTITION postgres_0010.events_2026_11 FOR VALUES FROM ('1793491200000000') TO ('1796083200000000');
ALTER TABLE ONLY postgres_0010.events ATTACH PARTITION postgres_0010.events_2026_12 FOR VALUES FROM ('1796083200000000') TO ('1798761600000000');
ALTER TABLE ONLY postgres_0010.events ATTACH PARTITION postgres_0010.events_2027_01 FOR VALUES FROM ('1798761600000000') TO ('1801440000000000');
ALTER TABLE ONLY postgres_0010.events ATTACH PARTITION postgres_0010.events_default DEFAULT;
INSERT INTO postgres_0010.access_keys VALUES ('ylofdqu3', 'game', '{write}', '{bl*}', '\xfa19569c4aa870e342ff28556ec2cd5c07edb021474d235b350475d90f189c07', 1794736800000000, NULL, 'ylofdqu3');
INSERT INTO postgres_0010.access_keys VALUES ('kl34yx36', 'site', '{read}', '{*}', '\xfa84a9c45de976b884c1891b8bc0613e7948188ad0b3c500e2fde04da8fd85ec', 1794736800000000, NULL, 'kl34yx36');
INSERT INTO postgres_0010.batches VALUES ('3bc230b8-8bc9-42e6-b6a8-58196f436f91', '2026-11-17 15:48:38.345257+00');
INSERT INTO postgres_0010.batches VALUES ('0a6aa9f0-a0d7-49cd-8a91-7976b6c6f117', '2026-11-17 15:48:38.38514+00');
INSERT INTO postgres_0010.batches VALUES ('8ebb9d54-24f1-4dba-adfc-7886a494ced8', '2026-11-17 15:48:38.388939+00');
INSERT INTO postgres_0010.batches VALUES ('493583f7-2a09-4605-b51d-d691dc57bcb2', '2026-11-17 15:48:38.391302+00');
INSERT INTO postgres_0010.batches VALUES ('c6ea2cc4-9d46-42f8-93cf-59e194c9a5f0', '2026-11-17 15:48:38.393426+00');
INSERT INTO postgres_0010.batches VALUES ('3131f002-be8b-4ed5-b126-d81abb6c62d6', '2026-11-17 15:48:38.395604+00');
INSERT INTO postgres_0010.batches VALUES ('9cf2c32e-b339-4499-8e93-b9c33eb6ce3b', '2026-11-17 15:48:38.397843+00');
INSERT INTO postgres_0010.batches VALUES ('955e747b-6fe5-41a6-9141-f74fa9d9b6f4', '2026-11-17 15:48:38.424723+00');
INSERT INTO postgres_0010.batches VALUES ('8efd799c-c54d-4c18-94a6-dd994325f123', '2026-11-17 15:48:38.432019+00');
INSERT INTO postgres_0010.batches VALUES ('52f60053-3787-4ed6-ba43-204daf8cb718', '2026-11-17 15:48:38.437402+00');
INSERT INTO postgres_0010.batches VALUES ('6e33567b-c3af-4687-a8f5-ab95292a7139', '2026-11-17 15:48:38.443362+00');
INSERT INTO postgres_0010.batches VALUES ('6275e77a-a13e-40e3-88c4-9ef65ffca804', '2026-11-17 15:48:38.448087+00');
INSERT INTO postgres_0010.batches VALUES ('82dc9a38-414b-44b6-90eb-be1d246ec531', '2026-11-17 15:48:38.458881+00');
INSERT INTO postgres_0010.batches VALUES ('2bfe8e4d-764b-423b-b82f-0ec12a40fd6d', '2026-11-17 15:48:38.464546+00');
INSERT INTO postgres_0010.batches VALUES ('d41d3017-ba0e-4c4c-ad93-65de347624b0', '2026-11-17 15:48:38.469652+00');
INSERT INTO postgres_0010.batches VALUES ('0fa868df-b041-4910-94ad-ab6db3451520', '2026-11-17 15:48:38.474078+00');
INSERT INTO postgres_0010.batches VALUES ('8fdcd70f-1ab3-4321-bf6f-7631ef05522f', '2026-11-17 15:48:38.478742+00');
INSERT INTO postgres_0010.batches VALUES ('83ef94cd-cab9-4723-aa96-283ab93996b7', '2026-11-17 15:48:38.485544+00');
INSERT INTO postgres_0010.batches VALUES ('04971588-1e05-49be-a6c9-0d07b7e50d7c', '2026-11-17 15:48:38.490555+00');
INSERT INTO postgres_0010.batches VALUES ('e89d6c08-a089-411a-a6ea-865498616486', '2026-11-17 15:48:38.494892+00');
INSERT INTO postgres_0010.batches VALUES ('324eff92-af15-40a4-8475-2d50f33c8dfa', '2026-11-17 15:48:38.499064+00');
INSERT INTO postgres_0010.batches VALUES ('5dc4c7cd-a2f2-439b-b081-c2a3412c2703', '2026-11-17 15:48:38.503492+00');
INSERT INTO postgres_0010.batches VALUES ('d03fcf9c-e889-4654-99f9-f2ceabc75c1a', '2026-11-17 15:48:38.5089+00');
INSERT INTO postgres_0010.batches VALUES ('e449ff96-d51a-45ae-b11c-dfcc41e67ef0', '2026-11-17 15:48:38.51432+00');
INSERT INTO postgres_0010.batches VALUES ('88ae0810-2032-4b83-a54e-d70b69dc6cea', '2026-11-17 15:48:38.519541+00');
INSERT INTO postgres_0010.batches VALUES ('cd69e16a-92df-4898-bd66-53a259601280', '2026-11-17 15:48:38.524713+00');
INSERT INTO postgres_0010.batches VALUES ('0dc2aa4f-3d22-4a4a-9ed1-0cf4508b47fd', '2026-11-17 15:48:38.527535+00');
INSERT INTO postgres_0010.batches VALUES ('25539e04-3fc5-4906-a026-282254ce19ec', '2026-11-17 15:48:38.546153+00');
INSERT INTO postgres_0010.batches VALUES ('194e5532-553e-4b12-abb7-582ac61a871e', '2026-11-17 15:48:38.551984+00');
INSERT INTO postgres_0010.batches VALUES ('5b6d55e4-418f-47fd-8b7f-b79906b68f82', '2026-11-17 15:48:38.557448+00');
INSERT INTO postgres_0010.batches VALUES ('d7b0dd7c-96b8-4236-b7af-303dfe908381', '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.batches VALUES ('6485a96a-45ea-4b31-bf5b-041ffc49696b', '2026-11-17 15:48:38.577072+00');
INSERT INTO postgres_0010.batches VALUES ('a4962646-6a3e-4220-9adf-f6bcf3db891e', '2026-11-17 15:48:38.581862+00');
INSERT INTO postgres_0010.batches VALUES ('1f7f89c8-9062-4308-86a0-772e295c768e', '2026-11-17 15:48:38.589484+00');
INSERT INTO postgres_0010.batches VALUES ('f69bcb4f-8770-44ab-a4da-48bdc76894f6', '2026-11-17 15:48:38.592133+00');
INSERT INTO postgres_0010.batches VALUES ('f4e3e804-80fe-4727-956b-a0c61b3d85f8', '2026-11-17 15:48:38.593898+00');
INSERT INTO postgres_0010.batches VALUES ('8c11942c-575e-42c5-a895-7922716530f7', '2026-11-17 15:48:38.595709+00');
INSERT INTO postgres_0010.batches VALUES ('2c89eeea-5c83-43c2-aad6-88d8995e6a0b', '2026-11-17 15:48:38.597323+00');
INSERT INTO postgres_0010.batches VALUES ('209580be-de81-4064-bade-8a901df0411b', '2026-11-17 15:48:38.599024+00');
INSERT INTO postgres_0010.batches VALUES ('5a1d5867-3a1f-4983-93c2-94210aaec202', '2026-11-17 15:48:38.601291+00');
INSERT INTO postgres_0010.batches VALUES ('2681172c-b863-46a4-aa0b-bc0039bd3041', '2026-11-17 15:48:38.608464+00');
INSERT INTO postgres_0010.batches VALUES ('a2d376bd-7c98-4d55-ba82-d617a9e31ad5', '2026-11-17 15:48:38.619975+00');
INSERT INTO postgres_0010.batches VALUES ('4cdd13bc-e7c1-4814-b269-fcbc698aa232', '2026-11-17 15:48:38.625497+00');
INSERT INTO postgres_0010.batches VALUES ('2fabb9b4-29d1-4c4f-b06a-9242ebb85621', '2026-11-17 15:48:38.63085+00');
INSERT INTO postgres_0010.batches VALUES ('8667c0a1-9ea2-46e9-a9e0-4acf0114abe1', '2026-11-17 15:48:38.636451+00');
INSERT INTO postgres_0010.batches VALUES ('be20e25a-24eb-4acd-a9f9-61559410f5c0', '2026-11-17 15:48:38.640166+00');
INSERT INTO postgres_0010.batches VALUES ('0e3d7952-7aad-4d6d-b829-a5a2044f2d22', '2026-11-17 15:48:38.642164+00');
INSERT INTO postgres_0010.batches VALUES ('ae3719d9-2638-4d65-8276-03a8b6a08b87', '2026-11-17 15:48:38.64519+00');
INSERT INTO postgres_0010.batches VALUES ('5bfac8de-daa8-4c47-af08-6900c8d5005b', '2026-11-17 15:48:38.651766+00');
INSERT INTO postgres_0010.boards VALUES ('coins', 22, 22, '{"title":"","order":"desc","policy":"sum","decimals":2,"subscore":null,"tie_break":"first","ranking":"ordinal","windows":["all-time","weekly"],"default_window":null,"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null}');
INSERT INTO postgres_0010.boards VALUES ('blitz', 1, 35, '{"title":"Blitz!","order":"desc","policy":"best","decimals":0,"subscore":"desc","tie_break":"first","ranking":"competition","windows":["all-time","daily",{"name":"s1","starts":"2026-11-01T00:00:00Z","ends":"2026-12-01T00:00:00Z"}],"default_window":null,"timezone":"UTC","scopes":["global","country","team"],"public":false,"score_min":null,"score_max":null,"max_increase":null}');
INSERT INTO postgres_0010.boards VALUES ('laps', 36, 36, '{"title":"","order":"asc","policy":"latest","decimals":0,"subscore":null,"tie_break":"first","ranking":"ordinal","windows":["all-time","hourly"],"default_window":null,"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null}');
INSERT INTO postgres_0010.cards VALUES (1, 2, 46, '\x00000001000000197fffffffffffffa07ffffffffffffff88006604f66953000000000000000002e00000002000000067fffffffffffffc37fffffffffffffff800660115fe7c80000000000000000080000000a000000067fffffffffffffb97ffffffffffffffe800660257dbf2800000000000000000d0000000e000000067fffffffffffffaf7ffffffffffffffd800660399b96880000000000000000120000001b000000197fffffffffffffa07ffffffffffffff88006604f66953000000000000000002e0000001c000000197fffffffffffffa07ffffffffffffff88006604f66953000000000000000002e');
INSERT INTO postgres_0010.cards VALUES (1, 3, 47, '\x00000001000000047fffffffffffff7d7fffffffffffffff80066038c502e400000000000000002f00000002000000047fffffffffffffb97fffffffffffffff800660115fe7c80000000000000000090000000a000000047fffffffffffffaf7ffffffffffffffe800660257dbf2800000000000000000e0000000e000000047fffffffffffff7d7fffffffffffffff80066038c502e400000000000000002f0000001c000000047fffffffffffff7d7fffffffffffffff80066038c502e400000000000000002f');
INSERT INTO postgres_0010.cards VALUES (1, 9, 48, '\x000000010000001a7fffffffffffffaf7fffffffffffffff800660115fe7c800000000000000000a00000002000000087fffffffffffffaf7fffffffffffffff800660115fe7c800000000000000000a0000000a000000087fffffffffffffcd7ffffffffffffffe800660257dbf2800000000000000000f0000000e000000087fffffffffffffc37ffffffffffffffd800660399b96880000000000000000140000001b0000001a7fffffffffffffbd7fffffffffffffff8006604f6695300000000000000000300000001c0000001a7fffffffffffffbd7fffffffffffffff8006604f669530000000000000000030');
INSERT INTO postgres_0010.cards VALUES (1, 4, 52, '\x00000001000000287fffffffffffffb27ffffffffffffffa8006604f6695300000000000000000340000001b000000287fffffffffffffb27ffffffffffffffa8006604f6695300000000000000000340000001c000000287fffffffffffffb27ffffffffffffffa8006604f669530000000000000000034');
INSERT INTO postgres_0010.cards VALUES (22, 1, 25, '\x00000012000000147fffffffffffff378006604db96de800000000000000001900000013000000147fffffffffffff378006604db96de8000000000000000019');
INSERT INTO postgres_0010.cards VALUES (22, 2, 24, '\x00000012000000147fffffffffffff058006604db96de800000000000000001800000013000000147fffffffffffff058006604db96de8000000000000000018');
INSERT INTO postgres_0010.cards VALUES (27, 1, 28, '\x0000001600000017800000000000ee487ff99fb2469217ff000000000000001c');
INSERT INTO postgres_0010.cards VALUES (27, 2, 29, '\x0000001600000017800000000000e86c7ff99fb2469217ff000000000000001d');
INSERT INTO postgres_0010.cards VALUES (1, 1, 45, '\x00000001000000047fffffffffffff877fffffffffffffff8006604f66953000000000000000002d00000002000000047fffffffffffffcd7fffffffffffffff800660115fe7c80000000000000000070000000a000000047fffffffffffffc37ffffffffffffffe800660257dbf2800000000000000000c0000000e000000047fffffffffffffb97ffffffffffffffd800660399b96880000000000000000110000001b000000047fffffffffffff877fffffffffffffff8006604f66953000000000000000002d0000001c000000047fffffffffffff877fffffffffffffff8006604f66953000000000000000002d');
INSERT INTO postgres_0010.cards VALUES (36, 1, 53, '\x0000001f00000021800000000000ec54800660503d28d40000000000000000350000002a00000021800000000000ec54800660503d28d4000000000000000035');
INSERT INTO postgres_0010.cards VALUES (36, 2, 54, '\x0000001f00000021800000000000ec54800660503d28d40000000000000000360000002a00000021800000000000ec54800660503d28d4000000000000000036');
INSERT INTO postgres_0010.cards VALUES (36, 3, 55, '\x0000001f00000021800000000000f03c800660503d28d40000000000000000370000002000000021800000000000f2308006604db96de80000000000000000250000002a00000021800000000000f03c800660503d28d4000000000000000037');
INSERT INTO postgres_0010.clocks VALUES ('598ee2e0-e913-4008-a06b-f58ca7adbe4e', 'example:1', 1794747600000000, 1794747600000000, '2026-11-17 15:48:38.78211+00', false);
INSERT INTO postgres_0010.events_2026_11 VALUES (1, 1794477600000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'board', NULL, '{"board":"blitz","rules":{"title":"Blitz","order":"desc","policy":"best","decimals":0,"subscore":"desc","tie_break":"first","ranking":"competition","windows":["all-time","daily","monthly"],"default_window":null,"timezone":"UTC","scopes":["global","country"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":1}');
INSERT INTO postgres_0010.events_2026_11 VALUES (2, 1794477600000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":1,"attributes":{"country":"PT"},"open":{"blitz":[]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (3, 1794477600000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":2,"attributes":{"country":"US"},"open":{"blitz":[]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (4, 1794477600000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":3,"attributes":{"country":"PT"},"open":{"blitz":[]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (5, 1794477600000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":4,"attributes":{"country":"US"},"open":{"blitz":[]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (6, 1794477600000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":5,"attributes":{},"open":{}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (7, 1794477600000000, 1, 1, 1794477600000000, 50, 0, 5, 1, 'score', '\x7b22646179223a307d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (8, 1794477600000000, 1, 2, 1794477600000000, 60, 0, 7, 1, 'score', '\x7b22646179223a307d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (9, 1794477600000000, 1, 3, 1794477600000000, 70, 0, 5, 1, 'score', '\x7b22646179223a307d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (10, 1794477600000000, 1, 9, 1794477600000000, 80, 0, 9, 1, 'score', '\x7b22646179223a307d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (11, 1794477600000000, 1, 4, 1794477600000000, 50, 0, 7, 1, 'score', '\x7b22646179223a307d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (12, 1794564000000000, 1, 1, 1794564000000000, 60, 1, 11, 1, 'score', '\x7b22646179223a317d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (13, 1794564000000000, 1, 2, 1794564000000000, 70, 1, 12, 1, 'score', '\x7b22646179223a317d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (14, 1794564000000000, 1, 3, 1794564000000000, 80, 1, 11, 1, 'score', '\x7b22646179223a317d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (15, 1794564000000000, 1, 9, 1794564000000000, 50, 1, 13, 1, 'score', '\x7b22646179223a317d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (16, 1794564000000000, 1, 4, 1794564000000000, 60, 1, 12, 1, 'score', '\x7b22646179223a317d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (17, 1794650400000000, 1, 1, 1794650400000000, 70, 2, 15, 1, 'score', '\x7b22646179223a327d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (18, 1794650400000000, 1, 2, 1794650400000000, 80, 2, 16, 1, 'score', '\x7b22646179223a327d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (19, 1794650400000000, 1, 3, 1794650400000000, 50, 2, 15, 1, 'score', '\x7b22646179223a327d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (20, 1794650400000000, 1, 9, 1794650400000000, 60, 2, 17, 1, 'score', '\x7b22646179223a327d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (21, 1794650400000000, 1, 4, 1794650400000000, 70, 2, 16, 1, 'score', '\x7b22646179223a327d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (22, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'board', NULL, '{"board":"coins","rules":{"title":"","order":"desc","policy":"sum","decimals":2,"subscore":null,"tie_break":"first","ranking":"ordinal","windows":["all-time","weekly"],"default_window":null,"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":22}');
INSERT INTO postgres_0010.events_2026_11 VALUES (23, 1794736800000000, 22, 1, 1794736800000000, 125, NULL, 21, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (24, 1794736800000000, 22, 2, 1794736800000000, 250, NULL, 21, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (25, 1794736800000000, 22, 1, 1794736800000000, 75, NULL, 21, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (26, 1794736800000000, 22, 13, 1794736800000000, 999, NULL, 21, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (27, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'board', NULL, '{"board":"laps","rules":{"title":"","order":"asc","policy":"best","decimals":0,"subscore":null,"tie_break":"last","ranking":"ordinal","windows":["all-time"],"default_window":null,"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":27}');
INSERT INTO postgres_0010.events_2026_11 VALUES (28, 1794736800000000, 27, 1, 1794736800000000, 61000, NULL, 24, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (29, 1794736800000000, 27, 2, 1794736800000000, 59500, NULL, 24, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (30, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'board-deleted', NULL, '{"board":"laps"}');
INSERT INTO postgres_0010.events_2026_11 VALUES (31, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'board', NULL, '{"board":"blitz","rules":{"title":"Blitz","order":"desc","policy":"best","decimals":0,"subscore":"desc","tie_break":"first","ranking":"competition","windows":["all-time","daily","weekly",{"name":"s1","starts":"2026-11-01T00:00:00Z","ends":"2026-12-01T00:00:00Z"}],"default_window":null,"timezone":"UTC","scopes":["global","country","team"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":1,"retained":{"daily":["2026-11-14","2026-11-12","2026-11-13"],"all-time":["all"],"monthly":["2026-11"]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (32, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":2,"attributes":{"country":"PT","team":"red"},"open":{"blitz":[["all-time","all"]]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (33, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":9,"attributes":{"team":"red"},"open":{"blitz":[["all-time","all"]]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (34, 1794736800000000, 1, 2, 1794736800000000, 80, 0, 30, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (35, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'board', NULL, '{"board":"blitz","rules":{"title":"Blitz!","order":"desc","policy":"best","decimals":0,"subscore":"desc","tie_break":"first","ranking":"competition","windows":["all-time","daily",{"name":"s1","starts":"2026-11-01T00:00:00Z","ends":"2026-12-01T00:00:00Z"}],"default_window":null,"timezone":"UTC","scopes":["global","country","team"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":1,"retained":{"s1":["s1"],"daily":["2026-11-14","2026-11-12","2026-11-15","2026-11-13"],"all-time":["all"],"weekly":["2026-W46"]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (36, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'board', NULL, '{"board":"laps","rules":{"title":"","order":"asc","policy":"latest","decimals":0,"subscore":null,"tie_break":"first","ranking":"ordinal","windows":["all-time","hourly"],"default_window":null,"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":36}');
INSERT INTO postgres_0010.events_2026_11 VALUES (37, 1794736800000000, 36, 3, 1794736800000000, 62000, NULL, 34, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (38, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'befriended', NULL, '{"player":1,"other":2}');
INSERT INTO postgres_0010.events_2026_11 VALUES (39, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'befriended', NULL, '{"player":1,"other":3}');
INSERT INTO postgres_0010.events_2026_11 VALUES (40, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'befriended', NULL, '{"player":2,"other":9}');
INSERT INTO postgres_0010.events_2026_11 VALUES (41, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'befriended', NULL, '{"player":13,"other":1}');
INSERT INTO postgres_0010.events_2026_11 VALUES (42, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'unfriended', NULL, '{"player":1,"other":3}');
INSERT INTO postgres_0010.events_2026_11 VALUES (43, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'removed', NULL, '{"board":"blitz","player":4}');
INSERT INTO postgres_0010.events_2026_11 VALUES (44, 1794736800000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'erased', NULL, '{"player":13}');
INSERT INTO postgres_0010.events_2026_11 VALUES (45, 1794744000000000, 1, 1, 1794744000000000, 120, 0, 35, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (46, 1794744000000000, 1, 2, 1794744000000000, 95, 7, 36, 1, 'score', '\x7b226c6576656c223a337d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (47, 1794744000000000, 1, 3, 1794646800000000, 130, 0, 37, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (48, 1794744000000000, 1, 9, 1794744000000000, 66, 0, 38, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (49, 1794744000000000, 1, 9, 1794571200000000, 10, 0, 39, 0, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (50, 1794744000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":4,"attributes":{"country":"DE"},"open":{"blitz":[]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (51, 1794744000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'player', NULL, '{"player":4,"attributes":{"country":"DE","team":"blue"},"open":{"blitz":[]}}');
INSERT INTO postgres_0010.events_2026_11 VALUES (52, 1794744000000000, 1, 4, 1794744000000000, 77, 5, 41, 1, 'score', '\x5b312c325d', NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (53, 1794747600000000, 36, 1, 1794747600000000, 60500, NULL, 43, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (54, 1794747600000000, 36, 2, 1794747600000000, 60500, NULL, 43, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.events_2026_11 VALUES (55, 1794747600000000, 36, 3, 1794747600000000, 61500, NULL, 43, 1, 'score', NULL, NULL);
INSERT INTO postgres_0010.friends VALUES (1, 2);
INSERT INTO postgres_0010.friends VALUES (2, 1);
INSERT INTO postgres_0010.friends VALUES (2, 9);
INSERT INTO postgres_0010.friends VALUES (9, 2);
INSERT INTO postgres_0010.graves VALUES (27);
INSERT INTO postgres_0010.hours VALUES (1, '2026-11-17 15:48:38.263279+00', 0, 1794477600000000);
INSERT INTO postgres_0010.key_counts VALUES (0, 1, '', 3);
INSERT INTO postgres_0010.key_counts VALUES (0, 1, 'studio', 1);
INSERT INTO postgres_0010.keys VALUES (1, '\x779a3b1cdf84c5d0dad999e0f296abbd', '\xdc1f2680484afcb969eb25bf8d41fb80', 45, 1794744000000000, 1, '\x5b5b5b22616c6c2d74696d65222c22616c6c222c3132302c37305d2c5b226461696c79222c22323032362d31312d3135222c3132302c6e756c6c5d2c5b227331222c227331222c3132302c6e756c6c5d5d2c5b5d5d', 1);
INSERT INTO postgres_0010.keys VALUES (1, '\xfe8cb5b0a24733b738996ab9f1975a7f', '\xc16bd3769bf7eb6d7b31de2db70a2e97', 46, 1794744000000000, 1, '\x5b5b5b22616c6c2d74696d65222c22616c6c222c39352c38305d2c5b226461696c79222c22323032362d31312d3135222c39352c38305d2c5b227331222c227331222c39352c38305d5d2c5b5d5d', 2);
INSERT INTO postgres_0010.keys VALUES (1, '\xf28f509e0380923e2ba8ed4c9b1f70b3', '\xd4936af755182f015b4322f6e780b670', 47, 1794744000000000, 1, '\x5b5b5b22616c6c2d74696d65222c22616c6c222c3133302c38305d2c5b226461696c79222c22323032362d31312d3134222c3133302c35305d2c5b227331222c227331222c3133302c6e756c6c5d5d2c5b5d5d', 3);
INSERT INTO postgres_0010.keys VALUES (1, '\x1fc16a31a3f0c592f07c4190986455da', '\x59018f23da495c1528cd6a20357d07b2', 48, 1794744000000000, 1, '\x5b5b5b22616c6c2d74696d65222c22616c6c222c38302c38305d2c5b226461696c79222c22323032362d31312d3135222c36362c6e756c6c5d2c5b227331222c227331222c36362c6e756c6c5d5d2c5b5d5d', 9);
INSERT INTO postgres_0010.migrations VALUES (1, '2026-11-17 15:48:38.21061+00');
INSERT INTO postgres_0010.migrations VALUES (2, '2026-11-17 15:48:38.233242+00');
INSERT INTO postgres_0010.migrations VALUES (3, '2026-11-17 15:48:38.235395+00');
INSERT INTO postgres_0010.migrations VALUES (4, '2026-11-17 15:48:38.237302+00');
INSERT INTO postgres_0010.migrations VALUES (5, '2026-11-17 15:48:38.239271+00');
INSERT INTO postgres_0010.migrations VALUES (6, '2026-11-17 15:48:38.239408+00');
INSERT INTO postgres_0010.migrations VALUES (7, '2026-11-17 15:48:38.239827+00');
INSERT INTO postgres_0010.migrations VALUES (8, '2026-11-17 15:48:38.24533+00');
INSERT INTO postgres_0010.migrations VALUES (9, '2026-11-17 15:48:38.246513+00');
INSERT INTO postgres_0010.migrations VALUES (10, '2026-11-17 15:48:38.248689+00');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (1, 1, 'p', 'all-time/all');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (2, 1, 'p', 'daily/2026-11-12');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (3, 1, 'p', 'monthly/2026-11');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (4, 1, 's', 'global
country:PT');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (5, 1, 'r', '["blitz",1,"library",[["all-time","all",["global","country:PT"]],["daily","2026-11-12",["global","country:PT"]],["monthly","2026-11",["global","country:PT"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (6, 1, 's', 'global
country:US');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (7, 1, 'r', '["blitz",1,"library",[["all-time","all",["global","country:US"]],["daily","2026-11-12",["global","country:US"]],["monthly","2026-11",["global","country:US"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (8, 1, 's', 'global');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (9, 1, 'r', '["blitz",1,"library",[["all-time","all",["global"]],["daily","2026-11-12",["global"]],["monthly","2026-11",["global"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (10, 1, 'p', 'daily/2026-11-13');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (11, 1, 'r', '["blitz",1,"library",[["all-time","all",["global","country:PT"]],["daily","2026-11-13",["global","country:PT"]],["monthly","2026-11",["global","country:PT"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (12, 1, 'r', '["blitz",1,"library",[["all-time","all",["global","country:US"]],["daily","2026-11-13",["global","country:US"]],["monthly","2026-11",["global","country:US"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (13, 1, 'r', '["blitz",1,"library",[["all-time","all",["global"]],["daily","2026-11-13",["global"]],["monthly","2026-11",["global"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (14, 1, 'p', 'daily/2026-11-14');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (15, 1, 'r', '["blitz",1,"library",[["all-time","all",["global","country:PT"]],["daily","2026-11-14",["global","country:PT"]],["monthly","2026-11",["global","country:PT"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (16, 1, 'r', '["blitz",1,"library",[["all-time","all",["global","country:US"]],["daily","2026-11-14",["global","country:US"]],["monthly","2026-11",["global","country:US"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (17, 1, 'r', '["blitz",1,"library",[["all-time","all",["global"]],["daily","2026-11-14",["global"]],["monthly","2026-11",["global"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (18, 22, 'p', 'all-time/all');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (19, 22, 'p', 'weekly/2026-W46');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (20, 22, 's', 'global');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (21, 22, 'r', '["coins",22,"library",[["all-time","all",["global"]],["weekly","2026-W46",["global"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (22, 27, 'p', 'all-time/all');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (23, 27, 's', 'global');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (24, 27, 'r', '["laps",27,"library",[["all-time","all",["global"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (25, 1, 's', 'global
country:PT
team:red');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (26, 1, 's', 'global
team:red');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (27, 1, 'p', 'daily/2026-11-15');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (28, 1, 'p', 's1/s1');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (29, 1, 'p', 'weekly/2026-W46');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (30, 1, 'r', '["blitz",31,"library",[["all-time","all",["global","country:PT","team:red"]],["daily","2026-11-15",["global","country:PT","team:red"]],["weekly","2026-W46",["global","country:PT","team:red"]],["s1","s1",["global","country:PT","team:red"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (31, 36, 'p', 'all-time/all');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (32, 36, 'p', 'hourly/2026-11-15T1000Z');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (33, 36, 's', 'global');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (34, 36, 'r', '["laps",36,"library",[["all-time","all",["global"]],["hourly","2026-11-15T1000Z",["global"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (35, 1, 'r', '["blitz",35,"library",[["all-time","all",["global","country:PT"]],["daily","2026-11-15",["global","country:PT"]],["s1","s1",["global","country:PT"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (36, 1, 'r', '["blitz",35,"library",[["all-time","all",["global","country:PT","team:red"]],["daily","2026-11-15",["global","country:PT","team:red"]],["s1","s1",["global","country:PT","team:red"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (37, 1, 'r', '["blitz",35,"library",[["all-time","all",["global","country:PT"]],["daily","2026-11-14",["global","country:PT"]],["s1","s1",["global","country:PT"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (38, 1, 'r', '["blitz",35,"library",[["all-time","all",["global","team:red"]],["daily","2026-11-15",["global","team:red"]],["s1","s1",["global","team:red"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (39, 1, 'r', '["blitz",35,"library",[["all-time","all",["global","team:red"]],["daily","2026-11-13",["global"]],["s1","s1",["global","team:red"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (40, 1, 's', 'global
country:DE
team:blue');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (41, 1, 'r', '["blitz",35,"library",[["all-time","all",["global","country:DE","team:blue"]],["daily","2026-11-15",["global","country:DE","team:blue"]],["s1","s1",["global","country:DE","team:blue"]]]]');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (42, 36, 'p', 'hourly/2026-11-15T1300Z');
INSERT INTO postgres_0010.names OVERRIDING SYSTEM VALUE VALUES (43, 36, 'r', '["laps",36,"library",[["all-time","all",["global"]],["hourly","2026-11-15T1300Z",["global"]]]]');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (1, 1, 0, 7, '{1}', '{}', '2026-11-17 15:48:38.397843+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (2, 1, 0, 8, '{2}', '{}', '2026-11-17 15:48:38.424723+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (3, 1, 0, 9, '{3}', '{}', '2026-11-17 15:48:38.432019+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (4, 1, 0, 10, '{9}', '{}', '2026-11-17 15:48:38.437402+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (5, 1, 0, 11, '{4}', '{}', '2026-11-17 15:48:38.443362+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (6, 1, 0, 12, '{1}', '{}', '2026-11-17 15:48:38.448087+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (7, 1, 0, 13, '{2}', '{}', '2026-11-17 15:48:38.458881+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (8, 1, 0, 14, '{3}', '{}', '2026-11-17 15:48:38.464546+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (9, 1, 0, 15, '{9}', '{}', '2026-11-17 15:48:38.469652+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (10, 1, 0, 16, '{4}', '{}', '2026-11-17 15:48:38.474078+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (11, 1, 0, 17, '{1}', '{}', '2026-11-17 15:48:38.478742+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (12, 1, 0, 18, '{2}', '{}', '2026-11-17 15:48:38.485544+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (13, 1, 0, 19, '{3}', '{}', '2026-11-17 15:48:38.490555+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (14, 1, 0, 20, '{9}', '{}', '2026-11-17 15:48:38.494892+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (15, 1, 0, 21, '{4}', '{}', '2026-11-17 15:48:38.499064+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (16, 22, 0, 26, '{1,2,13}', '{}', '2026-11-17 15:48:38.5089+00', '2026-11-17 15:48:38.522625+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (17, 27, 0, 29, '{1,2}', '{}', '2026-11-17 15:48:38.519541+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (18, 1, 0, 32, '{2}', '{}', '2026-11-17 15:48:38.546153+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (19, 1, 0, 33, '{9}', '{}', '2026-11-17 15:48:38.551984+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (20, 1, 0, 34, '{2}', '{}', '2026-11-17 15:48:38.557448+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (21, 36, 0, 37, '{3}', '{}', '2026-11-17 15:48:38.581862+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (22, 1, 0, 43, '{4}', '{}', '2026-11-17 15:48:38.599024+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (23, 22, 0, 44, '{}', '{fay}', '2026-11-17 15:48:38.601291+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (24, 1, 0, 45, '{1}', '{}', '2026-11-17 15:48:38.608464+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (25, 1, 0, 46, '{2}', '{}', '2026-11-17 15:48:38.619975+00', '2026-11-17 15:48:38.624681+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (26, 1, 0, 47, '{3}', '{}', '2026-11-17 15:48:38.625497+00', '2026-11-17 15:48:38.729846+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (27, 1, 0, 48, '{9}', '{}', '2026-11-17 15:48:38.63085+00', '2026-11-17 15:48:38.729846+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (28, 1, 0, 52, '{4}', '{}', '2026-11-17 15:48:38.64519+00', '2026-11-17 15:48:38.729846+00');
INSERT INTO postgres_0010.outbox OVERRIDING SYSTEM VALUE VALUES (29, 36, 0, 55, '{1,2,3}', '{}', '2026-11-17 15:48:38.651766+00', '2026-11-17 15:48:38.729846+00');
INSERT INTO postgres_0010.players OVERRIDING SYSTEM VALUE VALUES (1, 'ann', 'Ann', NULL, '{"country":"PT"}', 'ann');
INSERT INTO postgres_0010.players OVERRIDING SYSTEM VALUE VALUES (3, 'cat', 'Cat', NULL, '{"country":"PT"}', 'cat');
INSERT INTO postgres_0010.players OVERRIDING SYSTEM VALUE VALUES (5, 'gus', 'Gus', 'https://example.org/gus.png', '{}', 'gus');
INSERT INTO postgres_0010.players OVERRIDING SYSTEM VALUE VALUES (2, 'bob', 'Bob', NULL, '{"country":"PT","team":"red"}', 'bob');
INSERT INTO postgres_0010.players OVERRIDING SYSTEM VALUE VALUES (9, 'dan', 'Dän', NULL, '{"team":"red"}', 'dän');
INSERT INTO postgres_0010.players OVERRIDING SYSTEM VALUE VALUES (4, 'eve', 'Eve', NULL, '{"country":"DE","team":"blue"}', 'eve');
INSERT INTO postgres_0010.scope_ladder_counts VALUES (1, 19, NULL);
INSERT INTO postgres_0010.scope_ladders VALUES (1, 2, 'country:PT', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 14, 'country:PT', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 10, 'country:PT', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 27, 'country:PT', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 27, 'team:red', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 1, 'country:PT', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 2, 'country:US', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 1, 'team:red', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 10, 'country:US', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 14, 'country:US', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 1, 'country:US', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 28, 'country:PT', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 28, 'team:red', NULL, '2026-11-17 15:48:38.566513+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 1, 'country:DE', 4, '2026-11-17 15:48:38.647146+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 1, 'team:blue', 4, '2026-11-17 15:48:38.647146+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 27, 'country:DE', 4, '2026-11-17 15:48:38.647146+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 27, 'team:blue', 4, '2026-11-17 15:48:38.647146+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 28, 'country:DE', 4, '2026-11-17 15:48:38.647146+00');
INSERT INTO postgres_0010.scope_ladders VALUES (1, 28, 'team:blue', 4, '2026-11-17 15:48:38.647146+00');
INSERT INTO postgres_0010.shards VALUES (1, 0, 0, 'bb5a7000696dc17850aa3d364a518f4ae43974f9');
SELECT pg_catalog.setval('postgres_0010.names_number_seq', 43, true);
SELECT pg_catalog.setval('postgres_0010.outbox_id_seq', 29, true);
SELECT pg_catalog.setval('postgres_0010.players_number_seq', 25, true);
SELECT pg_catalog.setval('postgres_0010.positions', 55, true);
ALTER TABLE ONLY postgres_0010.access_keys
    ADD CONSTRAINT access_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY postgres_0010.batches
    ADD CONSTRAINT batches_pkey PRIMARY KEY (id);
ALTER TABLE ONLY postgres_0010.boards
    ADD CONSTRAINT boards_generation_key UNIQUE (generation);
ALTER TABLE ONLY postgres_0010.boards
    ADD CONSTRAINT boards_pkey PRIMARY KEY (id);
ALTER TABLE ONLY postgres_0010.cards
    ADD CONSTRAINT cards_pkey PRIMARY KEY (generation, player);
ALTER TABLE ONLY postgres_0010.clocks
    ADD CONSTRAINT clocks_pkey PRIMARY KEY (process);
ALTER TABLE ONLY postgres_0010.copies
    ADD CONSTRAINT copies_pkey PRIMARY KEY (database);
ALTER TABLE ONLY postgres_0010.events
    ADD CONSTRAINT events_pkey PRIMARY KEY ("position", recorded_at);
ALTER TABLE ONLY postgres_0010.events_2026_11
    ADD CONSTRAINT events_2026_11_pkey PRIMARY KEY ("position", recorded_at);
ALTER TABLE ONLY postgres_0010.events_2026_12
    ADD CONSTRAINT events_2026_12_pkey PRIMARY KEY ("position", recorded_at);
ALTER TABLE ONLY postgres_0010.events_2027_01
    ADD CONSTRAINT events_2027_01_pkey PRIMARY KEY ("position", recorded_at);
ALTER TABLE ONLY postgres_0010.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY ("position", recorded_at);
ALTER TABLE ONLY postgres_0010.friends
    ADD CONSTRAINT friends_pkey PRIMARY KEY (player, friend);
ALTER TABLE ONLY postgres_0010.graves
    ADD CONSTRAINT graves_pkey PRIMARY KEY (generation);
ALTER TABLE ONLY postgres_0010.hours
    ADD CONSTRAINT hours_pkey PRIMARY KEY (number);
ALTER TABLE ONLY postgres_0010.key_counts
    ADD CONSTRAINT key_counts_pkey PRIMARY KEY (span, generation, owner);
ALTER TABLE ONLY postgres_0010.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (generation, key);
ALTER TABLE ONLY postgres_0010.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY postgres_0010.names
    ADD CONSTRAINT names_pkey PRIMARY KEY (number);
ALTER TABLE ONLY postgres_0010.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY postgres_0010.players
    ADD CONSTRAINT players_id_key UNIQUE (id);
ALTER TABLE ONLY postgres_0010.players
    ADD CONSTRAINT players_pkey PRIMARY KEY (number);
ALTER TABLE ONLY postgres_0010.scope_ladder_counts
    ADD CONSTRAINT scope_ladder_counts_pkey PRIMARY KEY (generation);
ALTER TABLE ONLY postgres_0010.scope_ladders
    ADD CONSTRAINT scope_ladders_pkey PRIMARY KEY (generation, period, scope);
ALTER TABLE ONLY postgres_0010.shards
    ADD CONSTRAINT shards_pkey PRIMARY KEY (generation, shard);
CREATE INDEX events_by_history ON ONLY postgres_0010.events USING btree (player, generation, "position");
CREATE INDEX events_2026_11_player_generation_position_idx ON postgres_0010.events_2026_11 USING btree (player, generation, "position");
CREATE INDEX events_2026_12_player_generation_position_idx ON postgres_0010.events_2026_12 USING btree (player, generation, "position");
CREATE INDEX events_2027_01_player_generation_position_idx ON postgres_0010.events_2027_01 USING btree (player, generation, "position");
CREATE INDEX events_default_player_generation_position_idx ON postgres_0010.events_default USING btree (player, generation, "position");
CREATE INDEX keys_by_position ON postgres_0010.keys USING btree ("position");
CREATE UNIQUE INDEX names_by_name ON postgres_0010.names USING btree (generation, kind, md5(name));
CREATE INDEX outbox_unmarked ON postgres_0010.outbox USING btree (id) WHERE (marked_at IS NULL);
CREATE INDEX players_by_name ON postgres_0010.players USING btree (folded, id) WHERE (folded IS NOT NULL);
ALTER INDEX postgres_0010.events_pkey ATTACH PARTITION postgres_0010.events_2026_11_pkey;
ALTER INDEX postgres_0010.events_by_history ATTACH PARTITION postgres_0010.events_2026_11_player_generation_position_idx;
ALTER INDEX postgres_0010.events_pkey ATTACH PARTITION postgres_0010.events_2026_12_pkey;
ALTER INDEX postgres_0010.events_by_history ATTACH PARTITION postgres_0010.events_2026_12_player_generation_position_idx;
ALTER INDEX postgres_0010.events_pkey ATTACH PARTITION postgres_0010.events_2027_01_pkey;
ALTER INDEX postgres_0010.events_by_history ATTACH PARTITION postgres_0010.events_2027_01_player_generation_position_idx;
ALTER INDEX postgres_0010.events_pkey ATTACH PARTITION postgres_0010.events_default_pkey;
ALTER INDEX postgres_0010.events_by_history ATTACH PARTITION postgres_0010.events_default_player_generation_position_idx;
