-- The embedded journal. Positions are shared by `submissions` and `events`: together they are
-- one append-only sequence. What can identify a player (id, name, details, keys) can be deleted
-- without touching that sequence: events name players by number.

-- name: 'database' (a random id that checkpoints refer to), 'format' (the number of the last migration)
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A player's number is given once and never again; erasing a player deletes the row.
CREATE TABLE players (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL,
    name       TEXT,
    avatar_url TEXT
) STRICT;

-- Few players have something to show, and start-up finds them without reading all others.
CREATE INDEX players_shown ON players (number) WHERE name IS NOT NULL OR avatar_url IS NOT NULL;

-- Where submissions counted: board (with the generation and version of its rules), periods and
-- scopes, and who sent them. Thousands of submissions share one.
CREATE TABLE routes (
    number     INTEGER PRIMARY KEY,
    board      TEXT NOT NULL,
    generation INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    source     TEXT NOT NULL,
    route      TEXT NOT NULL
) STRICT;

-- `previous` is the position of the same player's submission before this one, on any board: a
-- chain that finds a player's history without an index on random keys.
CREATE TABLE submissions (
    position    INTEGER PRIMARY KEY,
    route       INTEGER NOT NULL,
    player      INTEGER NOT NULL,
    previous    INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    score       INTEGER NOT NULL,
    subscore    INTEGER,
    status      INTEGER NOT NULL, -- 1 accepted, 0 unchanged
    key         TEXT,             -- idempotency key: its owner, U+001F, its text; before: its text
    digest      BLOB,
    outcome     BLOB              -- scores per window, recorded with a key for its repeats
) STRICT;

-- Keyed submissions are found at start-up without reading all others. It grows at its end.
CREATE INDEX submissions_keyed ON submissions (position) WHERE key IS NOT NULL;

CREATE TABLE details (
    position INTEGER PRIMARY KEY,
    body     BLOB NOT NULL
) STRICT;

CREATE TABLE events (
    position    INTEGER PRIMARY KEY,
    recorded_at INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    body        TEXT NOT NULL
) STRICT;
