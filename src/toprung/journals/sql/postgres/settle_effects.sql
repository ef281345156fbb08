-- Record attempts; the numbers of the effects that still waited. $1 numbers, $2 states, $3 times, $4 when
-- they are due again, $5 statuses, $6 answers. What was answered may repeat what was told: nothing of it is
-- kept that names who was erased, and who erases waits for this transaction. What has no status is our own
-- words.
UPDATE effects AS e
SET state = a.state, attempts = e.attempts + 1, attempted_at = a.at, due_at = a.due_at,
    status = a.status,
    answer = CASE
        WHEN a.status IS NOT NULL AND (
            e.is_brief
            OR e.other IS NOT NULL
            AND NOT EXISTS (SELECT FROM players AS p WHERE p.number = e.other FOR KEY SHARE)
        )
        THEN '' ELSE a.answer
    END,
    body = CASE WHEN e.is_brief AND a.state = 1 THEN '' ELSE e.body END
FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bigint[], $5::integer[], $6::text[])
    AS a (number, state, at, due_at, status, answer)
WHERE e.number = a.number AND e.state = 0
RETURNING e.number
