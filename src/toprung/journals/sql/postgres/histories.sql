-- Everything about every player, player by player: first its id (none if it was erased), then what
-- happened to it in order, then its cards. Sorted by the server, which spills to disk.
SELECT number AS player, -1::bigint AS position, 'known' AS kind, NULL::bigint AS recorded_at,
    NULL::bigint AS generation, NULL::bigint AS at, NULL::bigint AS score, NULL::bigint AS subscore,
    NULL::integer AS route, id, NULL AS body, NULL::bytea AS entries
FROM players
UNION ALL
SELECT player, position, kind, recorded_at, generation, at, score, subscore, route, NULL, NULL, NULL
FROM events WHERE kind = 'score' AND status < 2 -- others were not merged
UNION ALL
SELECT (body::json ->> 'player')::bigint, position, kind, recorded_at, NULL, NULL, NULL, NULL, NULL,
    NULL, body, NULL
FROM events WHERE kind <> 'score' AND body::json ->> 'player' IS NOT NULL
UNION ALL
SELECT player, 9223372036854775807, 'card', NULL, generation, NULL, NULL, NULL, NULL, NULL, NULL,
    entries
FROM cards
ORDER BY player, position
