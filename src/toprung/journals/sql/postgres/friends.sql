-- Ids of a player's friends. $1 player id.
SELECT p.id
FROM friends AS f JOIN players AS p ON p.number = f.friend
WHERE f.player = (SELECT number FROM players WHERE id = $1)
ORDER BY p.id
