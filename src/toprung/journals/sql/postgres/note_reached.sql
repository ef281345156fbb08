-- Remember what shards have reached, where that is another than before. $1 generations, $2 outbox ids,
-- $3 servers.
INSERT INTO shards (generation, shard, mark, server)
SELECT new.generation, 0, new.mark, new.server
FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS new (generation, mark, server)
ON CONFLICT (generation, shard) DO UPDATE
SET mark = excluded.mark, server = excluded.server
WHERE (shards.mark, shards.server) IS DISTINCT FROM (excluded.mark, excluded.server)
