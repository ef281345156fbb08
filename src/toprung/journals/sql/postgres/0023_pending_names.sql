-- A name that waits for a moderator; it is erased with its player. The index is made afterwards,
-- beside the processes that write: see postgres_migrations.py.
ALTER TABLE players ADD COLUMN IF NOT EXISTS pending_name text;
