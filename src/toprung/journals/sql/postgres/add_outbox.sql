-- Leave word for the index. $1 generation, $2 version, which is its only position, $3 player numbers,
-- $4 erased ids.
INSERT INTO outbox (generation, version, first, players, erased) VALUES ($1, $2, $2, $3, $4)
RETURNING id
