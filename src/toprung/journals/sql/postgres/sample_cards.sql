-- Cards of a board from a random place on. $1 generation, $2 how many, $3 a number in [0, 1).
-- The bound is a bigint as the column is: compared with another type, all before it would be read.
SELECT p.id, c.version, c.entries
FROM (
    SELECT * FROM cards
    WHERE generation = $1::bigint
        AND player >= (
            SELECT (min(player) + (max(player) - min(player)) * $3::float8)::bigint
            FROM cards WHERE generation = $1::bigint
        )
    ORDER BY player LIMIT $2
) AS c
JOIN players AS p ON p.number = c.player
