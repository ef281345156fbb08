-- id, name, avatar_url of the players that have a name or an avatar. $1 ids.
SELECT p.id, p.name, p.avatar_url
FROM unnest($1::text[]) AS wanted (id)
CROSS JOIN LATERAL (SELECT * FROM players WHERE players.id = wanted.id) AS p
WHERE p.name IS NOT NULL OR p.avatar_url IS NOT NULL
