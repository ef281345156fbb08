#!lua
-- Members of a ladder that are on nobody's card. ARGV: <window>/<period>, scope, width of an entry,
-- bytes of a key, bytes of cards to read, start, stop, remove (1 takes them off). Answers {members
-- looked at, whether there are more, player, ...}.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local key = base .. 'z:' .. ARGV[1] .. '/' .. ARGV[2]
local width, order = tonumber(ARGV[3]), tonumber(ARGV[4])
local bytes, start, stop = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local members = call('ZRANGE', key, start, stop - 1)
local answer, wanted = { 0, 0 }, '\n' .. ARGV[2] .. '\n'
for _, member in ipairs(members) do
  if bytes <= 0 then break end
  answer[1] = answer[1] + 1
  local player = sub(member, order + 1)
  local card = period and call('HGET', cards_key, player)
  local entry = card and find_entry(card, period, width)
  local scopes = entry and call('HGET', base .. 'names', 's' .. sub(entry, 1, 4))
  local is_known = scopes and sub(entry, 5, 4 + order) == sub(member, 1, order)
    and string.find('\n' .. scopes .. '\n', wanted, 1, true)
  if not is_known then
    answer[#answer + 1] = player
    if ARGV[8] == '1' then call('ZREM', key, member) end
  end
  if card then bytes = bytes - #card end
end
if answer[1] == stop - start or answer[1] < #members then answer[2] = 1 end
if #answer > 2 and ARGV[8] == '1' then call('INCR', base .. 'changes') end
return answer
