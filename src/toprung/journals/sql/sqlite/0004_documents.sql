-- What features remember: the newest of each kind and key, set by events of the kind 'document'.
CREATE TABLE documents (
    kind    TEXT NOT NULL,
    key     TEXT NOT NULL,
    version INTEGER NOT NULL, -- position of the event
    value   TEXT NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
