-- What is remembered of idempotency keys. $1 generation, $2 keys, $3 the position
-- up to which they are forgotten.
SELECT k.key, k.digest, k.position, k.status, k.outcome
FROM unnest($2::bytea[]) AS wanted (key)
CROSS JOIN LATERAL (
    SELECT * FROM keys WHERE generation = $1::bigint AND keys.key = wanted.key
) AS k
WHERE k.position > $3::bigint
