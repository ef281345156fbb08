-- Rows that nobody marked and nobody is working on; young ones are left to who wrote them.
-- $1 how many, $2 seconds, $3 generations of boards to leave out.
SELECT id, generation, version, players, erased FROM outbox
WHERE marked_at IS NULL AND written_at < now() - make_interval(secs => $2::float8)
    AND generation <> ALL ($3::bigint[])
ORDER BY id LIMIT $1
FOR UPDATE SKIP LOCKED
