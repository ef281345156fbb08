-- The order of ladders at past moments: see toprung.domain.snapshots. None of it is part of the sequence of
-- positions, and all of it is written by the journal's writer, in its commits.

-- A snapshot is there when its row is: what else belongs to it was written before.
CREATE TABLE snapshots (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL, -- of the board
    boundary   INTEGER NOT NULL, -- when it was due
    name       TEXT NOT NULL,    -- of the boundary, for people
    taken_at   INTEGER NOT NULL,
    UNIQUE (generation, boundary)
) STRICT;

CREATE TABLE snapshot_ladders (
    generation INTEGER NOT NULL,
    boundary   INTEGER NOT NULL,
    ladder     INTEGER NOT NULL, -- its place among the ladders of the snapshot
    window     TEXT NOT NULL,
    period     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    total      INTEGER NOT NULL, -- players
    position   INTEGER NOT NULL, -- of the journal, when it was read
    PRIMARY KEY (generation, boundary, ladder)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX snapshot_ladders_by_name
    ON snapshot_ladders (generation, window, scope, period, boundary);

CREATE TABLE snapshot_parts (
    generation INTEGER NOT NULL,
    boundary   INTEGER NOT NULL,
    ladder     INTEGER NOT NULL,
    kind       INTEGER NOT NULL, -- 0 players, 1 ties, 2 scores
    first      INTEGER NOT NULL,
    body       BLOB NOT NULL,
    PRIMARY KEY (generation, boundary, ladder, kind, first)
) STRICT;
