-- Write effects that wait, in their order; one whose id was written before stays as it is. One that names
-- a player is left out if that player was erased, and who erases waits for this transaction: otherwise it
-- would outlive the player. $1 when, then columns.
INSERT INTO effects (id, kind, target, type, body, player, other, is_brief, created_at)
SELECT new.id, new.kind, new.target, new.type, new.body, new.player, new.other, new.is_brief, $1::bigint
FROM unnest(
    $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bigint[], $8::bigint[], $9::boolean[]
) WITH ORDINALITY AS new (id, kind, target, type, body, player, other, is_brief, place)
WHERE new.player IS NULL
    OR EXISTS (SELECT FROM players AS p WHERE p.number = new.player FOR KEY SHARE)
ORDER BY new.place
ON CONFLICT (id) DO NOTHING
