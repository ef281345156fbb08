-- Forget that others have a player ($1) as a friend. They are found by the player's own rows, as no index
-- begins with `friend`.
DELETE FROM friends
WHERE friend = $1 AND player IN (SELECT own.friend FROM friends AS own WHERE own.player = $1)
