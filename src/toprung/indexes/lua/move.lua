#!lua
-- Apply changes of cards where the shard has the cards that they begin from, and tell places before and
-- after. Nothing of a card is looked at but its version: what leaves ladders and what enters them is told.
-- ARGV: outbox id, bytes of a tied prefix (0: not dense), what a rank counts ('ordinal', 'competition' or
-- 'dense'), how many cards, how many stops, then
--   per card: player, the version that it replaces (7 bytes; empty: there is none), the card
--   per stop: its 8 bytes, the greatest version, how many leave, how many enter, members that leave, then
--     zero and member of those that enter
--   per place: the number of a period, where the player was on its ladder of everybody and where it is
--     now (a member or a tied prefix, as a rank counts; empty: nowhere)
-- Answers {the outbox id reached before, numbers of cards that begin from something else, then per place
-- how many were before the player, how many are now (-1: it was or is nowhere), and of how many}. If there
-- is any such card, nothing was done. Error UNDEFINED asks for define.lua first.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return redis.error_reply(not_ready) end
local tied, how, count = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local at = 6 + 3 * count

local function find_stale()
  local stale = {}
  for from = 1, count, 2000 do
    local till, players = math.min(from + 1999, count), {}
    for n = from, till do players[#players + 1] = ARGV[3 + 3 * n] end
    local known = call('HMGET', cards_key, unpack(players))
    for n = from, till do
      local card = known[n - from + 1]
      if (card and sub(card, 2, 8) or '') ~= ARGV[4 + 3 * n] then stale[#stale + 1] = n end
    end
  end
  return stale
end

-- Where the members of each stop are in ARGV, and which ladders they are about.
local function read_stops()
  local found = {}
  for n = 1, tonumber(ARGV[5]) do
    local leave = at + 4
    local enter = leave + tonumber(ARGV[at + 2])
    local after = enter + 2 * tonumber(ARGV[at + 3])
    found[n] = { ladders = ladders_of(ARGV[at]), leave = leave, enter = enter, after = after }
    for _, ladder in ipairs(found[n].ladders) do touch(ladder, tonumber(ARGV[at + 1])) end
    at = after
  end
  return found
end

local function count_before(ladder, point)
  if point == '' then return -1 end
  if how == 'ordinal' then return call('ZRANK', base .. 'z:' .. ladder, point) or -1 end
  local key = base .. (how == 'dense' and 'd:' or 'z:') .. ladder
  return call('ZLEXCOUNT', key, '-', '(' .. point)
end

local function change(stop, ladder)
  local key = base .. 'z:' .. ladder
  flush('ZREM', key, ARGV, stop.leave, stop.enter - 1)
  flush('ZADD', key, ARGV, stop.enter, stop.after - 1)
  if tied == 0 then return end
  local gone, come = {}, {}
  for n = stop.leave, stop.enter - 1 do gone[sub(ARGV[n], 1, tied)] = true end
  for n = stop.enter + 1, stop.after - 1, 2 do come[sub(ARGV[n], 1, tied)] = true end
  note_distinct(ladder, gone, come)
end

local stale = find_stale()
if stale[1] then return { reach(0), stale } end
local moved, answer, places = read_stops(), { 0, {} }, {}
for n = at, #ARGV, 3 do
  local period = period_of(ARGV[n])
  places[#places + 1] = period and period .. '/global' or false
end
if undefined then return redis.error_reply('UNDEFINED names are missing') end
for n, ladder in ipairs(places) do
  answer[3 * n] = ladder and count_before(ladder, ARGV[at + 3 * n - 2]) or -1
end
local is_changed = false
for _, stop in ipairs(moved) do
  for _, ladder in ipairs(stop.ladders) do change(stop, ladder) end
  is_changed = is_changed or stop.after > stop.leave
end
local fields = {}
for n = 1, count do
  fields[2 * n - 1] = ARGV[3 + 3 * n]
  fields[2 * n] = ARGV[5 + 3 * n]
end
flush('HSET', cards_key, fields)
if is_changed then call('INCR', base .. 'changes') end
local totals = {}
for n, ladder in ipairs(places) do
  answer[3 * n + 1] = ladder and count_before(ladder, ARGV[at + 3 * n - 1]) or -1
  if ladder and not totals[ladder] then totals[ladder] = call('ZCARD', base .. 'z:' .. ladder) end
  answer[3 * n + 2] = ladder and totals[ladder] or 0
end
tell_changes()
answer[1] = reach(tonumber(ARGV[1]))
return answer
