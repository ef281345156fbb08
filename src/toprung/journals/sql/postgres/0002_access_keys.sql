-- Access keys of services. Not part of the journal's sequence.
CREATE TABLE access_keys (
    id           text PRIMARY KEY,
    name         text NOT NULL,
    verbs        text[] NOT NULL,
    boards       text[] NOT NULL, -- patterns
    digest       bytea NOT NULL,  -- SHA-256 of the secret; the secret itself is nowhere
    created_at   bigint NOT NULL,
    last_used_at bigint
);
