-- What features remember: the newest of each kind and key, set by events of the kind 'document'.
CREATE TABLE documents (
    kind    text COLLATE "C" NOT NULL,
    key     text COLLATE "C" NOT NULL,
    version bigint NOT NULL, -- position of the event
    value   text NOT NULL,
    PRIMARY KEY (kind, key)
);
