-- Leave so many rows of each board, those with the greatest keys. $1 follower, $2 boards, $3 how many.
DELETE FROM derived AS d
USING unnest($2::text[], $3::bigint[]) AS kept (board, rows)
CROSS JOIN LATERAL (
    SELECT key FROM derived
    WHERE follower = $1 AND derived.board = kept.board
    ORDER BY key DESC OFFSET kept.rows LIMIT 1
) AS last
WHERE d.follower = $1 AND d.board = kept.board AND d.key <= last.key
