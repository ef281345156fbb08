#!lua flags=no-writes
-- The records of players on one ladder. ARGV: <window>/<period>, scope, width of an entry, bytes
-- of a key, then players. Answers false or the record for each.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local key = base .. 'z:' .. ARGV[1] .. '/' .. ARGV[2]
local width, order = tonumber(ARGV[3]), tonumber(ARGV[4])
local answer = {}
for at = 5, #ARGV do
  local player, record = ARGV[at], false
  local card = period and call('HGET', base .. 'cards', player)
  local entry = card and find_entry(card, period, width)
  if entry and call('ZSCORE', key, sub(entry, 5, 4 + order) .. player) then
    record = sub(entry, 5)
  end
  answer[#answer + 1] = record
end
return answer
