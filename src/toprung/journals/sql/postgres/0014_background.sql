-- What runs beside the journal: followers, effects, jobs, webhooks. None of it is part of the sequence
-- of positions. Times are microseconds by Toprung's clock, except those of leases.

-- Who may do what only one process may do at a time. Whoever writes under a lease locks its row (FOR
-- SHARE) in the same transaction and finds its own token, not yet ended by the server's clock.
CREATE TABLE leases (
    name    text COLLATE "C" PRIMARY KEY,
    process uuid NOT NULL,
    holder  text NOT NULL,   -- for people: host and process id
    token   bigint NOT NULL, -- grows with every change of hands
    ends_at timestamptz NOT NULL
);
CREATE SEQUENCE lease_tokens AS bigint; -- one for all: a token grows although its row was removed

-- Keep a lease in this process's hands until the transaction ends; whether it is. A process that is
-- halted meanwhile is cut off after ten seconds: nobody else could take the lease.
CREATE FUNCTION hold_lease(of_name text, mine uuid, my_token bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('idle_in_transaction_session_timeout', '10s', true);
    PERFORM FROM leases WHERE name = of_name FOR SHARE;
    RETURN EXISTS (
        SELECT FROM leases WHERE name = of_name AND process = mine AND token = my_token
            AND ends_at > clock_timestamp()
    );
END $$;

CREATE TABLE followers (
    name     text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL, -- all events up to it are accounted for in `derived`
    note     bytea NOT NULL,  -- the follower's own
    fault    text             -- why it has stopped there
);

CREATE TABLE derived (
    follower text COLLATE "C" NOT NULL,
    board    text COLLATE "C" NOT NULL,
    key      bytea NOT NULL,
    player   bigint,          -- number, of rows that are looked for by player
    value    bytea NOT NULL,
    PRIMARY KEY (follower, board, key)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX derived_by_player ON derived (follower, player) WHERE player IS NOT NULL;

CREATE TABLE effects (
    number       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of writing
    id           text COLLATE "C" NOT NULL UNIQUE,
    kind         text NOT NULL,
    target       text COLLATE "C" NOT NULL,
    type         text NOT NULL,
    body         bytea NOT NULL,
    player       bigint,           -- number of whom it names: it goes when that player is erased
    other        bigint, -- number of whom it names besides: `answer` goes when that player is erased
    is_brief     boolean NOT NULL, -- the body is dropped when it is delivered, and no answer is kept
    created_at   bigint NOT NULL,
    state        smallint NOT NULL DEFAULT 0, -- 0 waiting, 1 delivered, 2 dead
    attempts     integer NOT NULL DEFAULT 0,
    due_at       bigint NOT NULL DEFAULT 0, -- when it is tried; 0: at once, whatever clocks say
    attempted_at bigint,
    status       integer,
    answer       text NOT NULL DEFAULT ''
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX effects_waiting ON effects (target, due_at, number) WHERE state = 0;
CREATE INDEX effects_due ON effects (due_at) WHERE state = 0;
CREATE INDEX effects_dead ON effects (target) WHERE state = 2;
CREATE INDEX effects_settled ON effects (attempted_at) WHERE state <> 0;
CREATE INDEX effects_by_target ON effects (target, number);
CREATE INDEX effects_by_player ON effects (player) WHERE player IS NOT NULL;
CREATE INDEX effects_by_other ON effects (other) WHERE other IS NOT NULL;

CREATE TABLE jobs (
    name     text COLLATE "C" PRIMARY KEY,
    runs     bigint NOT NULL,
    mark     bigint NOT NULL, -- the last scheduled time for which it was done
    ended_at bigint NOT NULL,
    seconds  double precision NOT NULL,
    result   text NOT NULL,
    failures bigint NOT NULL, -- since it was last done
    fault    text
);

CREATE TABLE webhooks (
    id         text COLLATE "C" PRIMARY KEY,
    url        text NOT NULL,
    events     text[] NOT NULL,
    boards     text[] NOT NULL, -- patterns
    secret     text NOT NULL,
    nonce      text NOT NULL,   -- the ids of its messages are derived from it
    since      bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    disabled   text             -- why it is sent nothing more
);

-- The first position of a row's batch: what lies before the first of all unmarked rows is in the index.
-- NULL in rows of older processes: their first position may be any.
ALTER TABLE outbox ADD COLUMN first bigint;
CREATE INDEX outbox_first_unmarked ON outbox ((coalesce(first, 0))) WHERE marked_at IS NULL;

-- Where a stretch of the journal ends that begins after a position: nothing can appear any more up to
-- there and, if wanted, the index shows all of it. What committed while positions were settled must be
-- found in the outbox: each statement of this function sees what was committed when it begins.
CREATE FUNCTION stretch_end(after bigint, length bigint, is_visible boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    until bigint := least(settled_position(), after + length);
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
