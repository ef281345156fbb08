-- Cards of a board in the order of player numbers. $1 generation, $2 after this number, $3 limit.
SELECT c.player, p.id, c.version, c.entries
FROM (
    SELECT * FROM cards WHERE generation = $1::bigint AND player > $2::bigint
    ORDER BY player LIMIT $3
) AS c
JOIN players AS p ON p.number = c.player
ORDER BY c.player
