#!lua
-- Apply changes of cards where the shard has the cards that they begin from, and tell places before and
-- after. Nothing of a card is looked at but its version: what leaves ladders and what enters them is told.
-- ARGV: outbox id, bytes of a tied prefix (0: not dense), what a rank counts ('ordinal', 'competition' or
-- 'dense'), cards, places, then per stop: its 8 bytes, the greatest version, members that leave, members
-- that enter. A member is a text: two bytes of length, then the bytes.
--   A card: the player as a text, the version that it replaces (8 bytes; 0: there is none), bytes of the
--     card (4 bytes), the card.
--   A place: the number of a period (4 bytes), where the player was on its ladder of everybody, and where
--     it is now: texts, a member or a tied prefix, as a rank counts; empty: nowhere.
-- Answers {the outbox id reached before, numbers of cards that begin from something else, then per place
-- how many were before the player, how many are now (-1: it was or is nowhere), and of how many}. If there
-- is any such card, nothing was done; of a shard that is not complete no places are told. Error UNDEFINED asks for define.lua first.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return redis.error_reply(not_ready) end
local tied, how = tonumber(ARGV[2]), ARGV[3]
local byte = string.byte

-- The text at a byte, and what comes after it.
local function text_at(texts, at)
  local high, low = byte(texts, at, at + 1)
  local after = at + 2 + 256 * high + low
  return sub(texts, at + 2, after - 1), after
end

local function read_cards(texts)
  local players, since, cards, at = {}, {}, {}, 1
  while at <= #texts do
    local n, size = #players + 1, nil
    players[n], at = text_at(texts, at)
    since[n] = sub(texts, at + 1, at + 7)
    size = number_at(texts, at + 8)
    cards[n] = sub(texts, at + 12, at + 11 + size)
    at = at + 12 + size
  end
  return players, since, cards
end

-- Numbers of the cards that the shard has in another version than the one to be replaced.
local function find_stale(players, since)
  local stale, none = {}, string.rep('\0', 7)
  for from = 1, #players, 2000 do
    local till = math.min(from + 1999, #players)
    local known = call('HMGET', cards_key, unpack(players, from, till))
    for n = from, till do
      local card = known[n - from + 1]
      if (card and sub(card, 2, 8) or none) ~= since[n] or card and byte(card, 1) == 2 then
        stale[#stale + 1] = n
      end
    end
  end
  return stale
end

local function read_places(texts)
  local places, at = {}, 1
  while at <= #texts do
    local period, was, is = period_of(sub(texts, at, at + 3)), nil, nil
    was, at = text_at(texts, at + 4)
    is, at = text_at(texts, at)
    places[#places + 1] = { ladder = period and period .. '/global', was = was, is = is }
  end
  return places
end

local function read_members(texts, zeros)
  local members, at, n = {}, 1, 0
  while at <= #texts do
    if zeros then
      n = n + 1
      members[n] = '0'
    end
    n = n + 1
    members[n], at = text_at(texts, at)
  end
  return members
end

local function count_before(ladder, point)
  if not ladder or point == '' then return -1 end
  if how == 'ordinal' then return call('ZRANK', base .. 'z:' .. ladder, point) or -1 end
  local key = base .. (how == 'dense' and 'd:' or 'z:') .. ladder
  return call('ZLEXCOUNT', key, '-', '(' .. point)
end

-- Take members off the ladders of a stop, or put them there; note their tied prefixes by ladder.
local function change(command, stop, members, first, prefixes)
  for _, ladder in ipairs(stop) do
    flush(command, base .. 'z:' .. ladder, members)
    if tied > 0 then
      local noted = prefixes[ladder] or {}
      prefixes[ladder] = noted
      for n = first, #members, first do noted[sub(members[n], 1, tied)] = true end
    end
  end
end

local is_complete = call('EXISTS', KEYS[1]) == 1 -- else it is being rebuilt: no place can be told
local players, since, cards = read_cards(ARGV[4])
local stale = find_stale(players, since)
if stale[1] then return { reach(0), stale } end
local places, ladders = is_complete and read_places(ARGV[5]) or {}, {}
for at = 6, #ARGV, 4 do ladders[at] = ladders_of(ARGV[at]) end
if undefined then return redis.error_reply('UNDEFINED names are missing') end
local answer = { 0, {} }
for n, place in ipairs(places) do answer[3 * n] = count_before(place.ladder, place.was) end
-- All leave before any enters: a member may go from one stop to another that shares a ladder with it.
local gone, come, is_changed = {}, {}, false
for at = 6, #ARGV, 4 do
  change('ZREM', ladders[at], read_members(ARGV[at + 2], false), 1, gone)
  is_changed = is_changed or ARGV[at + 2] ~= '' or ARGV[at + 3] ~= ''
  for _, ladder in ipairs(ladders[at]) do touch(ladder, tonumber(ARGV[at + 1])) end
end
for at = 6, #ARGV, 4 do change('ZADD', ladders[at], read_members(ARGV[at + 3], true), 2, come) end
if tied > 0 then
  for ladder in pairs(versions) do note_distinct(ladder, gone[ladder] or {}, come[ladder] or {}) end
end
local fields = {}
for n, player in ipairs(players) do
  fields[2 * n - 1] = player
  fields[2 * n] = cards[n]
end
flush('HSET', cards_key, fields)
if is_changed then call('INCR', base .. 'changes') end
local totals = {}
for n, place in ipairs(places) do
  local ladder = place.ladder
  answer[3 * n + 1] = count_before(ladder, place.is)
  if ladder and not totals[ladder] then totals[ladder] = call('ZCARD', base .. 'z:' .. ladder) end
  answer[3 * n + 2] = ladder and totals[ladder] or 0
end
tell_changes()
answer[1] = reach(tonumber(ARGV[1]))
return answer
