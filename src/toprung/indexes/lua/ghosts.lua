#!lua
-- Members of a ladder that are on nobody's card. ARGV: <window>/<period>, scope, width of an entry,
-- bytes of a key, start, stop, remove (1 takes them off). Answers {members looked at, player, ...}.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local key = base .. 'z:' .. ARGV[1] .. '/' .. ARGV[2]
local width, order = tonumber(ARGV[3]), tonumber(ARGV[4])
local members = call('ZRANGE', key, ARGV[5], tonumber(ARGV[6]) - 1)
local answer, wanted = { #members }, '\n' .. ARGV[2] .. '\n'
for _, member in ipairs(members) do
  local player = sub(member, order + 1)
  local card = period and call('HGET', base .. 'cards', player)
  local entry = card and find_entry(card, period, width)
  local scopes = entry and call('HGET', base .. 'names', 's' .. sub(entry, 1, 4))
  local is_known = scopes and sub(entry, 5, 4 + order) == sub(member, 1, order)
    and string.find('\n' .. scopes .. '\n', wanted, 1, true)
  if not is_known then
    answer[#answer + 1] = player
    if ARGV[7] == '1' then call('ZREM', key, member) end
  end
end
if #answer > 1 and ARGV[7] == '1' then call('INCR', base .. 'changes') end
return answer
