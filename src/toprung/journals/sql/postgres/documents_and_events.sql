-- Every document beside the event that set it last: versions and values of both.
WITH newest AS (
    SELECT DISTINCT ON (1, 2) body::json ->> 'kind' AS kind, body::json ->> 'key' AS key,
        position AS version, body::json ->> 'value' AS value
    FROM events WHERE kind = 'document' ORDER BY 1, 2, position DESC
)
SELECT coalesce(n.kind, d.kind) AS kind, coalesce(n.key, d.key) AS key, n.version, n.value,
    d.version, d.value
FROM newest AS n FULL JOIN documents AS d ON d.kind = n.kind AND d.key = n.key
