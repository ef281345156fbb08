-- Names of players as they are looked for: see toprung.domain.player.fold_name. What takes long, folding
-- the names that are here already and the index on them, is done by postgres_migrations, under no lock.
ALTER TABLE players ADD COLUMN IF NOT EXISTS folded text COLLATE "C";
