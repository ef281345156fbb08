#!lua
-- Drop the tombstones of erased players. ARGV: players.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return redis.error_reply(not_ready) end
for _, player in ipairs(ARGV) do
  if call('HSTRLEN', cards_key, player) == 8 then call('HDEL', cards_key, player) end
end
return 1
