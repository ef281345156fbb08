-- Current cards of players, those without one left out. $1 generation, $2 player numbers.
SELECT p.id, c.version, c.entries
FROM unnest($2::bigint[]) AS wanted (number)
CROSS JOIN LATERAL (SELECT id FROM players WHERE players.number = wanted.number) AS p
CROSS JOIN LATERAL (
    SELECT version, entries FROM cards WHERE generation = $1::bigint AND player = wanted.number
) AS c
