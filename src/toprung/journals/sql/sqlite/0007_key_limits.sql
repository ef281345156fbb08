-- Until when, and from where, an access key can be used.
ALTER TABLE access_keys ADD COLUMN expires_at INTEGER; -- NULL: for ever
ALTER TABLE access_keys ADD COLUMN addresses TEXT NOT NULL DEFAULT '[]'; -- JSON list of networks; none: from anywhere
