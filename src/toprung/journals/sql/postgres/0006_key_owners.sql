-- Whose idempotency keys an access key uses; NULL: its own, under its id.
--
-- Since this migration `keys.key` is a digest of board, owner and key. What was remembered before
-- is a digest of the key alone, and looked for as well until it has expired.
ALTER TABLE access_keys ADD COLUMN owner text;
