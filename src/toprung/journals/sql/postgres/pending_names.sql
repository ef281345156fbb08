-- id, name, pending_name of players whose names wait for a moderator, by id. $1 after, $2 how many.
SELECT id, name, pending_name FROM players
WHERE pending_name IS NOT NULL AND id > $1 ORDER BY id LIMIT $2
