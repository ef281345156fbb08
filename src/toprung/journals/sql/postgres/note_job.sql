-- Keep what became of a job. $1 name, then columns.
INSERT INTO jobs (name, runs, mark, ended_at, seconds, result, failures, fault)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (name) DO UPDATE
SET runs = excluded.runs, mark = excluded.mark, ended_at = excluded.ended_at,
    seconds = excluded.seconds, result = excluded.result, failures = excluded.failures,
    fault = excluded.fault
