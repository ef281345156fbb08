-- What runs beside the journal: followers, effects, jobs, webhooks. None of it is part of the sequence
-- of positions, and all of it is written by the journal's writer, in its commits.

CREATE TABLE followers (
    name     TEXT PRIMARY KEY,
    position INTEGER NOT NULL, -- all events up to it are accounted for in `derived`
    note     BLOB NOT NULL,    -- the follower's own
    fault    TEXT              -- why it has stopped there
) STRICT, WITHOUT ROWID;

CREATE TABLE derived (
    follower TEXT NOT NULL,
    board    TEXT NOT NULL,
    key      BLOB NOT NULL,
    player   INTEGER,          -- number, of rows that are looked for by player
    value    BLOB NOT NULL,
    PRIMARY KEY (follower, board, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX derived_by_player ON derived (follower, player) WHERE player IS NOT NULL;

CREATE TABLE effects (
    number       INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of writing
    id           TEXT NOT NULL UNIQUE,
    kind         TEXT NOT NULL,
    target       TEXT NOT NULL,
    type         TEXT NOT NULL,
    body         BLOB NOT NULL,
    player       INTEGER,          -- number of whom it names: it goes when that player is erased
    other        INTEGER, -- number of whom it names besides: `answer` goes when that player is erased
    is_brief     INTEGER NOT NULL, -- 1: the body is dropped when it is delivered, and no answer is kept
    created_at   INTEGER NOT NULL,
    state        INTEGER NOT NULL DEFAULT 0, -- 0 waiting, 1 delivered, 2 dead
    attempts     INTEGER NOT NULL DEFAULT 0,
    due_at       INTEGER NOT NULL DEFAULT 0, -- when it is tried; 0: at once, whatever clocks say
    attempted_at INTEGER,
    status       INTEGER,
    answer       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX effects_waiting ON effects (target, due_at, number) WHERE state = 0;
CREATE INDEX effects_due ON effects (due_at) WHERE state = 0;
CREATE INDEX effects_dead ON effects (target) WHERE state = 2;
CREATE INDEX effects_settled ON effects (attempted_at) WHERE state <> 0;
CREATE INDEX effects_by_target ON effects (target, number);
CREATE INDEX effects_by_player ON effects (player) WHERE player IS NOT NULL;
CREATE INDEX effects_by_other ON effects (other) WHERE other IS NOT NULL;

CREATE TABLE jobs (
    name     TEXT PRIMARY KEY,
    runs     INTEGER NOT NULL,
    mark     INTEGER NOT NULL, -- the last scheduled time for which it was done
    ended_at INTEGER NOT NULL,
    seconds  REAL NOT NULL,
    result   TEXT NOT NULL,
    failures INTEGER NOT NULL, -- since it was last done
    fault    TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE webhooks (
    id         TEXT PRIMARY KEY,
    url        TEXT NOT NULL,
    events     TEXT NOT NULL, -- JSON list of types
    boards     TEXT NOT NULL, -- JSON list of patterns
    secret     TEXT NOT NULL,
    nonce      TEXT NOT NULL, -- the ids of its messages are derived from it
    since      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    disabled   TEXT           -- why it is sent nothing more
) STRICT, WITHOUT ROWID;
