-- Hold a board's ladders against its cards: enter those in use, take out those that are not. What was
-- entered less than $4 seconds ago stays: the batch that needs it may not have been committed yet.
-- $1 generation, $2 width of an entry on a card, $3 numbers of periods that are obsolete, $4 seconds.
WITH stops AS (
    SELECT DISTINCT substring(c.entries FROM at FOR 8) AS stop
    FROM cards AS c, generate_series(1, length(c.entries), $2::integer) AS at
    WHERE c.generation = $1::bigint
), used AS MATERIALIZED (
    SELECT DISTINCT read_number(s.stop, 0) AS period, each.scope COLLATE "C" AS scope
    FROM stops AS s
    JOIN names AS n ON n.number = read_number(s.stop, 4)
    CROSS JOIN LATERAL regexp_split_to_table(n.name, E'\n') AS each (scope)
    WHERE each.scope <> 'global' AND left(each.scope, 1) <> '~' AND read_number(s.stop, 0) <> ALL ($3::integer[])
), gone AS (
    DELETE FROM scope_ladders AS l
    WHERE l.generation = $1::bigint
        AND l.added_at < now() - make_interval(secs => $4::float8)
        AND NOT EXISTS (SELECT FROM used AS u WHERE u.period = l.period AND u.scope = l.scope)
)
INSERT INTO scope_ladders (generation, period, scope)
SELECT $1::bigint, u.period, u.scope FROM used AS u
WHERE NOT EXISTS (
    SELECT FROM scope_ladders AS l
    WHERE l.generation = $1::bigint AND l.period = u.period AND l.scope = u.scope
)
ON CONFLICT DO NOTHING
