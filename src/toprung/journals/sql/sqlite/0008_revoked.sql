-- Submissions that were revoked, and where a player's history on a board begins: what the events say, found
-- without reading them.
CREATE TABLE revoked (
    position INTEGER PRIMARY KEY, -- of the submission
    event    INTEGER NOT NULL,    -- that revoked it
    at       INTEGER NOT NULL,
    reason   TEXT NOT NULL
);

-- The last event that set or removed a player's entries on a board, whatever was submitted before
-- (`reset`), and the last of all that changed entries without a submission (`changed`).
CREATE TABLE histories (
    board   TEXT NOT NULL,
    player  INTEGER NOT NULL,
    reset   INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    PRIMARY KEY (board, player)
) WITHOUT ROWID;

INSERT INTO histories
SELECT json_extract(body, '$.board'), json_extract(body, '$.player'), max(position), max(position)
FROM events WHERE kind IN ('removed', 'entries') GROUP BY 1, 2;

-- Changes of a board's rules that may have cost it periods.
CREATE TABLE layouts (
    board    TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (board, position)
) WITHOUT ROWID;

INSERT INTO layouts
SELECT json_extract(body, '$.board'), position FROM events
WHERE kind = 'board' AND json_extract(body, '$.retained') IS NOT NULL;
