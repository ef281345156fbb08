-- The boards that a player is on: what is set for a player, or erased, costs what the player has.
CREATE INDEX cards_by_player ON cards (player);
