-- The cluster's journal. `events` is the append-only truth; `cards` is the state it leads to, kept
-- in the same transactions; everything else helps to decide, to deduplicate or to catch up.
-- Times are microseconds since 1970 by Toprung's clock, except `outbox` and `batches`, whose
-- housekeeping goes by the server's own clock. Text that holds JSON is `text`: `jsonb` would
-- refuse or rewrite what is valid JSON elsewhere.

CREATE SEQUENCE positions AS bigint;

CREATE TABLE boards (
    id         text COLLATE "C" PRIMARY KEY,
    generation bigint NOT NULL UNIQUE, -- position that created it
    version    bigint NOT NULL,        -- position that set its rules
    rules      text NOT NULL
);

-- Generations whose board was deleted: their cards and keys go little by little.
CREATE TABLE graves (
    generation bigint PRIMARY KEY
);

-- One row per player who ever submitted, has a profile or a friend. Its row lock is THE lock on
-- everything about the player: cards on all boards, attributes, friends, existence.
CREATE TABLE players (
    number     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text COLLATE "C" NOT NULL UNIQUE,
    name       text,
    avatar_url text,
    attributes text NOT NULL DEFAULT '{}'
) WITH (fillfactor = 85);

CREATE TABLE friends (
    player bigint NOT NULL,
    friend bigint NOT NULL,
    PRIMARY KEY (player, friend)
);

-- Numbers for what cards and events would otherwise repeat: kind 'p' a window and period, 's' a
-- tuple of scopes, 'r' a route with the board's version and the source. Written outside of
-- batches: a name that is never used does no harm.
CREATE TABLE names (
    number     integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation bigint NOT NULL,
    kind       text NOT NULL,
    name       text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX names_by_name ON names (generation, kind, md5(name));

-- All entries of one player on one board: see toprung.domain.card for the bytes.
CREATE TABLE cards (
    generation bigint NOT NULL,
    player     bigint NOT NULL,
    version    bigint NOT NULL,
    entries    bytea NOT NULL,
    PRIMARY KEY (generation, player)
) WITH (fillfactor = 75, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE cards ALTER COLUMN entries SET STORAGE EXTERNAL;

-- kind 'score' uses the columns from `generation` to `details`; every other kind uses `body`.
CREATE TABLE events (
    position    bigint NOT NULL,
    recorded_at bigint NOT NULL,
    generation  bigint,
    player      bigint,
    at          bigint,
    score       bigint,
    subscore    bigint,
    route       integer,
    status      smallint, -- 1 accepted, 0 unchanged
    kind        text NOT NULL,
    details     bytea,
    body        text,
    PRIMARY KEY (position, recorded_at)
) PARTITION BY RANGE (recorded_at);
CREATE INDEX events_by_player ON events (player, position);
CREATE TABLE events_default PARTITION OF events DEFAULT;

-- Idempotency keys of the last days, by hash, with what was answered.
CREATE TABLE keys (
    generation  bigint NOT NULL,
    key         bytea NOT NULL,
    digest      bytea,
    position    bigint NOT NULL,
    recorded_at bigint NOT NULL,
    status      smallint NOT NULL,
    outcome     bytea NOT NULL,
    player      bigint NOT NULL,
    PRIMARY KEY (generation, key)
);
CREATE INDEX keys_by_age ON keys (recorded_at);

-- A batch that has committed has its id here: this is how an interrupted COMMIT is settled.
CREATE TABLE batches (
    id         uuid PRIMARY KEY,
    written_at timestamptz NOT NULL DEFAULT now()
);

-- What the index may not know yet: one row per batch and board shard. `players` names cards whose
-- current state is to be applied, `erased` players (by id) that are to be removed at `version`.
CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation bigint NOT NULL,
    shard      smallint NOT NULL DEFAULT 0,
    version    bigint NOT NULL,
    players    bigint[] NOT NULL,
    erased     text[] NOT NULL DEFAULT '{}',
    written_at timestamptz NOT NULL DEFAULT now(),
    marked_at  timestamptz
) WITH (fillfactor = 70);
CREATE INDEX outbox_unmarked ON outbox (id) WHERE marked_at IS NULL;

-- What the index is known to have reached, to notice when it goes back.
CREATE TABLE shards (
    generation bigint NOT NULL,
    shard      smallint NOT NULL,
    mark       bigint NOT NULL,
    server     text NOT NULL,
    PRIMARY KEY (generation, shard)
);

-- Positions for one transaction. It first leaves a bound behind as an advisory lock (0x5470 in the
-- highest 16 bits, then 48 bits of position): everything it draws is greater, and the lock goes
-- only when its events are visible or never will be.
CREATE FUNCTION draw_positions(count bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    bound bigint;
BEGIN
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END INTO bound FROM positions;
    PERFORM pg_advisory_xact_lock_shared((x'5470'::bigint << 48) | bound);
    RETURN ARRAY(SELECT nextval('positions') FROM generate_series(1, count));
END $$;

-- The greatest position up to which nothing can appear any more.
CREATE FUNCTION settled_position() RETURNS bigint LANGUAGE plpgsql AS $$
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

-- Begin a batch: leave its id, and keep the rules of its boards as they are until it ends.
CREATE FUNCTION begin_batch(batch uuid, ids text[]) RETURNS SETOF boards LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO batches (id) VALUES (batch);
    PERFORM pg_advisory_xact_lock_shared(21616, sorted.hash) FROM
        (SELECT DISTINCT hashtext(each) AS hash FROM unnest(ids) AS each ORDER BY hash) AS sorted;
    RETURN QUERY SELECT b.* FROM boards AS b WHERE b.id = ANY (ids);
END $$;

-- Lock players in the order of their ids, making those that do not exist. (The update never
-- happens, but ON CONFLICT locks the row before it looks at the condition.)
CREATE FUNCTION lock_players(ids text[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO players (id)
    SELECT each FROM unnest(ids) AS each ORDER BY each COLLATE "C"
    ON CONFLICT (id) DO UPDATE SET name = players.name WHERE false;
$$;
