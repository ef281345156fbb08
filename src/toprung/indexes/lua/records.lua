#!lua flags=no-writes
-- The records of players on one ladder. ARGV: <window>/<period>, scope, width of an entry, bytes
-- of a key, bytes of cards to read, then players. Answers false or the record for each, for fewer
-- players when the bytes were used up.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local key = base .. 'z:' .. ARGV[1] .. '/' .. ARGV[2]
local width, order = tonumber(ARGV[3]), tonumber(ARGV[4])
local answer, bytes = {}, tonumber(ARGV[5])
for at = 6, #ARGV do
  if bytes <= 0 then break end
  local player, record = ARGV[at], false
  local card = period and call('HGET', cards_key, player)
  local entry = card and find_entry(card, period, width)
  if entry and call('ZSCORE', key, sub(entry, 5, 4 + order) .. player) then
    record = sub(entry, 5)
  end
  answer[#answer + 1] = record
  if card then bytes = bytes - #card end
end
return answer
