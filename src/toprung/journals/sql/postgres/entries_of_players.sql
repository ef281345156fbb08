-- The cards of locked players on one board; a statement of its own after the lock, so that it sees
-- what the lock was waited for. $1 generation, $2 player numbers.
SELECT c.player, c.entries
FROM unnest($2::bigint[]) AS wanted (number)
CROSS JOIN LATERAL (
    SELECT player, entries FROM cards WHERE generation = $1::bigint AND player = wanted.number
) AS c
