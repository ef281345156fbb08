-- id, the number of a period, entries: of players' cards on one board. $1 generation, $2 the period, $3 ids.
SELECT p.id, n.number, c.entries
FROM unnest($3::text[]) AS wanted (id)
CROSS JOIN (SELECT number FROM names WHERE generation = $1 AND kind = 'p' AND md5(name) = md5($2::text)) AS n
JOIN players AS p ON p.id = wanted.id
JOIN cards AS c ON c.generation = $1 AND c.player = p.number
