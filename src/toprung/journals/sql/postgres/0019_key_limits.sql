-- Until when, and from where, an access key can be used.
--
-- Processes of before this migration go on with the columns they know: they let in who comes with a
-- key that has expired or from elsewhere, until they are updated.
ALTER TABLE access_keys ADD COLUMN expires_at bigint; -- NULL: for ever
ALTER TABLE access_keys ADD COLUMN addresses text[] NOT NULL DEFAULT '{}'; -- networks; none: from anywhere
