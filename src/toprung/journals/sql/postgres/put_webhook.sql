-- Keep a webhook, in place of an older one with the same id, unless there are $11 others. The table is
-- locked against those who do the same.
INSERT INTO webhooks (
    id, url, events, boards, secret, nonce, since, created_at, updated_at, disabled
)
SELECT $1::text, $2::text, $3::text[], $4::text[], $5::text, $6::text, $7::bigint, $8::bigint, $9::bigint,
    $10::text
WHERE (SELECT count(*) FROM webhooks WHERE id <> $1::text) < $11::bigint
ON CONFLICT (id) DO UPDATE
SET url = excluded.url, events = excluded.events, boards = excluded.boards, secret = excluded.secret,
    nonce = excluded.nonce, since = excluded.since, created_at = excluded.created_at,
    updated_at = excluded.updated_at, disabled = excluded.disabled
