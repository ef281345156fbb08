-- Names of players as they are looked for: see toprung.domain.player.fold_name, which also folds
-- the names that are here already.
ALTER TABLE players ADD COLUMN folded text COLLATE "C";
CREATE INDEX players_by_name ON players (folded, id) WHERE folded IS NOT NULL;
