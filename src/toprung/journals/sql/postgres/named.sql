-- Ids of players by their folded names, namesakes by id. $1 first name, $2 beyond the last, $3 limit.
SELECT id FROM players
WHERE folded >= $1::text AND folded < $2::text
ORDER BY folded, id LIMIT $3
