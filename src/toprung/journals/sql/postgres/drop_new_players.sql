-- Those of the players numbered $1 whom this very transaction has made: nobody else has seen them.
DELETE FROM players WHERE number = ANY ($1::bigint[]) AND xmin = pg_current_xact_id()::xid
