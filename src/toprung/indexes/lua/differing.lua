#!lua flags=no-writes
-- Players whose card is another here, or who miss an entry on a ladder. ARGV: width of an entry,
-- bytes of a key, numbers of the periods that matter (4 bytes each), then player, card, ...
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local width, order, alive = tonumber(ARGV[1]), tonumber(ARGV[2]), {}
for at = 1, #ARGV[3], 4 do alive[sub(ARGV[3], at, at + 3)] = true end
local names, answer = base .. 'names', {}

local function is_whole(player, card)
  if (call('HGET', base .. 'cards', player) or '') ~= card then return #card == 8 end
  for at = 9, #card, width do
    if alive[sub(card, at, at + 3)] then
      local texts = call('HMGET', names, 'p' .. sub(card, at, at + 3), 's' .. sub(card, at + 4, at + 7))
      if not texts[1] or not texts[2] then return false end
      local period = string.match(texts[1], '^%d+ (.*)$')
      for scope in string.gmatch(texts[2], '[^\n]+') do
        local key = base .. 'z:' .. period .. '/' .. scope
        if not call('ZSCORE', key, sub(card, at + 8, at + 7 + order) .. player) then return false end
      end
    end
  end
  return true
end

for at = 4, #ARGV, 2 do
  if not is_whole(ARGV[at], ARGV[at + 1]) then answer[#answer + 1] = ARGV[at] end
end
return answer
