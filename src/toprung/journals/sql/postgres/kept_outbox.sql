-- All rows of a board that are still kept. $1 generation, $2 after this id, $3 how many.
SELECT id, generation, version, players, erased FROM outbox
WHERE generation = $1 AND id > $2 ORDER BY id LIMIT $3
