-- Submissions that wait for a verdict are documents of the kind 'review'. Whoever lists them asks for those
-- of one board or of all, in the order of their ids, of how much they stand out, or of when they expire.

CREATE INDEX reviews_of_board ON documents (((value::json ->> 'generation')::bigint), key)
    WHERE kind = 'review';
CREATE INDEX reviews_by_impact ON documents ((-((value::json ->> 'impact')::bigint)), key)
    WHERE kind = 'review';
CREATE INDEX reviews_by_expiry ON documents (((value::json ->> 'expires_at')::bigint), key)
    WHERE kind = 'review';
