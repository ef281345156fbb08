#!lua flags=no-writes
-- What is not as it should be. ARGV: width of an entry, bytes of a key, numbers of the periods that
-- matter (4 bytes each), units of work, then player, plain card, ... (an empty card for a player who has
-- none). A unit is an entry on one ladder that is looked for, or eight entries or 4 KB of a card that
-- are gone through. Answers {cards looked at, player, ladder, ...}; the ladder is empty when the card
-- itself is another.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local width, order, alive, numbers = tonumber(ARGV[1]), tonumber(ARGV[2]), {}, {}
for at = 1, #ARGV[3], 4 do
  local number = sub(ARGV[3], at, at + 3)
  alive[number], numbers[#numbers + 1] = true, number
end
local names, answer, units = base .. 'names', { 0 }, tonumber(ARGV[4])

local function tell(player, ladder)
  answer[#answer + 1] = player
  answer[#answer + 1] = ladder
end

-- Scopes and records of the periods that matter. Those are looked up where they are few among many
-- entries.
local function retained(card)
  local found = {}
  local entries = (#card - 8) / width
  units = units - math.min(entries, 4 * #numbers) / 8
  if entries > 4 * #numbers then
    for _, number in ipairs(numbers) do found[number] = find_entry(card, number, width) end
  else
    for at = 9, #card, width do
      local number = sub(card, at, at + 3)
      if alive[number] then found[number] = sub(card, at + 4, at + width - 1) end
    end
  end
  return found
end

local function look_at(player, card)
  local known = call('HGET', cards_key, player) or ''
  units = units - (#known + #card) / 4096
  if #known <= 8 and #card <= 8 then return end
  local plain = plain_card(known, width)
  if plain ~= known then units = units - 0.1 * #plain / width end
  if #plain ~= #card or version_of(plain) ~= version_of(card) or not is_alike(plain, card, #card, width) then
    return tell(player, '')
  end
  for number, entry in pairs(retained(card)) do
    local texts = call('HMGET', names, 'p' .. number, 's' .. sub(entry, 1, 4))
    if not texts[1] or not texts[2] then return tell(player, '') end
    local period = string.match(texts[1], '^%d+ (.*)$')
    for scope in string.gmatch(texts[2], '[^\n]+') do
      units = units - 1
      local ladder = period .. '/' .. scope
      local member = sub(entry, 5, 4 + order) .. player
      if not call('ZSCORE', base .. 'z:' .. ladder, member) then tell(player, ladder) end
    end
  end
end

for at = 5, #ARGV, 2 do
  if units <= 0 then break end
  units = units - 1
  answer[1] = answer[1] + 1
  look_at(ARGV[at], ARGV[at + 1])
end
return answer
