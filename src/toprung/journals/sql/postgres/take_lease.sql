-- Take a lease that nobody has, or renew the present one; no row while another process has it. The token
-- is a new one unless the lease was ours until now: it is drawn when the row is locked, so a later holder
-- has a greater one. $1 name, $2 process, $3 its name for people, $4 seconds.
INSERT INTO leases (name, process, holder, token, ends_at)
VALUES ($1, $2, $3, nextval('lease_tokens'), clock_timestamp() + make_interval(secs => $4::float8))
ON CONFLICT (name) DO UPDATE
SET token = CASE
        WHEN leases.process = excluded.process AND leases.ends_at > clock_timestamp()
        THEN leases.token ELSE nextval('lease_tokens')
    END,
    process = excluded.process, holder = excluded.holder,
    ends_at = clock_timestamp() + make_interval(secs => $4::float8)
WHERE leases.process = excluded.process OR leases.ends_at <= clock_timestamp()
RETURNING token
