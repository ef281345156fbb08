-- Cards of players by id, those without one left out. $1 generation, $2 ids.
SELECT p.id, c.version, c.entries
FROM unnest($2::text[]) AS wanted (id)
CROSS JOIN LATERAL (SELECT number, id FROM players WHERE players.id = wanted.id) AS p
CROSS JOIN LATERAL (
    SELECT version, entries FROM cards WHERE generation = $1::bigint AND player = p.number
) AS c
