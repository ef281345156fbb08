-- The boards that a player is on: what is set for a player, or erased, costs what the player has.
-- postgres_migrations builds it beside the processes that write cards.
CREATE INDEX CONCURRENTLY IF NOT EXISTS cards_by_player ON cards (player);
