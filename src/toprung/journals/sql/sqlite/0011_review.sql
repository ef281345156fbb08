-- Submissions that wait for a verdict are documents of the kind 'review'. Whoever lists them asks for those
-- of one board or of all, in the order of their ids, of how much they stand out, or of when they expire.

CREATE INDEX reviews_of_board ON documents (json_extract(value, '$.generation'), key)
    WHERE kind = 'review';
CREATE INDEX reviews_by_impact ON documents (-json_extract(value, '$.impact'), key)
    WHERE kind = 'review';
CREATE INDEX reviews_by_expiry ON documents (json_extract(value, '$.expires_at'), key)
    WHERE kind = 'review';
