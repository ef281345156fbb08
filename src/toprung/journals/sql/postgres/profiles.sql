-- id, name, avatar_url, attributes of the players that are known. $1 ids.
SELECT p.id, p.name, p.avatar_url, p.attributes
FROM unnest($1::text[]) AS wanted (id)
CROSS JOIN LATERAL (SELECT * FROM players WHERE players.id = wanted.id) AS p
