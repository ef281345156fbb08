-- The access keys of services. Files of before this migration have the table if a key was made in them,
-- and then perhaps without its last column.
CREATE TABLE IF NOT EXISTS access_keys (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    verbs        TEXT NOT NULL, -- JSON list
    boards       TEXT NOT NULL, -- JSON list of patterns
    digest       BLOB NOT NULL, -- SHA-256 of the secret; the secret itself is nowhere
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    owner        TEXT           -- NULL: the key itself, by its id
) STRICT, WITHOUT ROWID;
