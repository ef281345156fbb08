-- A player's submissions on one board are found without passing those on others. It takes the place of
-- the index on player and position: whoever asks for all events of a player finds them as well.

CREATE INDEX events_by_history ON events (player, generation, position);
DROP INDEX events_by_player;
