-- The name of a player that waits for a moderator, if one does. $1 id.
SELECT pending_name FROM players WHERE id = $1
