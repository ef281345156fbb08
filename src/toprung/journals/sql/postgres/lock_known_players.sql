-- Lock players in the order of their ids; those that do not exist are missing from the answer.
-- Joined laterally to the index: without statistics, "= ANY" would scan. $1 ids, in order.
SELECT p.id, p.number, p.attributes
FROM unnest($1::text[]) WITH ORDINALITY AS wanted (id, place)
CROSS JOIN LATERAL (
    SELECT * FROM players WHERE players.id = wanted.id FOR NO KEY UPDATE
) AS p
