-- Where this database came from, if it began as a copy of an embedded one.
CREATE TABLE copies (
    database  text PRIMARY KEY,  -- the embedded database's own id
    head      bigint NOT NULL,   -- its last position when it was copied
    copied_at timestamptz NOT NULL DEFAULT now()
);
