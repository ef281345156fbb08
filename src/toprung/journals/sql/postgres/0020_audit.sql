-- Who acted: events with a `by`, found by who it was and what it was about. It is written with the event.
CREATE TABLE acts (
    position    bigint PRIMARY KEY,
    recorded_at bigint NOT NULL,
    actor       text COLLATE "C" NOT NULL, -- kind of the actor, colon, its id
    board       text COLLATE "C",
    player      bigint -- number of whom it is about: its reason goes when that player is erased
);
CREATE INDEX acts_by_actor ON acts (actor, position);
CREATE INDEX acts_by_board ON acts (board, position) WHERE board IS NOT NULL;
CREATE INDEX acts_by_player ON acts (player) WHERE player IS NOT NULL;

-- What the salts in the audit log are made of. Whoever is erased loses it; -1 is nobody's.
CREATE TABLE log_secrets (
    player bigint PRIMARY KEY,
    secret bytea NOT NULL
);
