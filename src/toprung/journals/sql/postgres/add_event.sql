-- Append an event that is no submission. $1 position, $2 recorded_at, $3 kind, $4 body.
INSERT INTO events (position, recorded_at, kind, body) VALUES ($1, $2, $3, $4)
