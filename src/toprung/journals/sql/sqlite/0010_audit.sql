-- Who acted: events with a `by`, found by who it was and what it was about. It is written with the event.
CREATE TABLE acts (
    position    INTEGER PRIMARY KEY,
    recorded_at INTEGER NOT NULL,
    actor       TEXT NOT NULL, -- kind of the actor, colon, its id
    board       TEXT,
    player      INTEGER        -- number of whom it is about: its reason goes when that player is erased
) STRICT;
CREATE INDEX acts_by_actor ON acts (actor, position);
CREATE INDEX acts_by_board ON acts (board, position) WHERE board IS NOT NULL;
CREATE INDEX acts_by_player ON acts (player) WHERE player IS NOT NULL;

-- What the salts in the audit log are made of. Whoever is erased loses it; -1 is nobody's.
CREATE TABLE log_secrets (
    player INTEGER PRIMARY KEY,
    secret BLOB NOT NULL
) STRICT;
