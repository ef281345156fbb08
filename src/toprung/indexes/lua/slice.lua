#!lua flags=no-writes
-- Consecutive entries of one ladder. ARGV: <window>/<period>, scope, width of an entry, bytes of a
-- key, bytes of a tied prefix, how distinct results are counted, the most that are scanned, then
--   'range', start, stop           offsets [start, stop)
--   'player', id, above, below     the player with neighbours, shifted so that it stays full
--   'point', bytes, above, below, full   before the point and from it on
-- Answers false, or {start, total, tied before, distinct before, tied until (of the last entry),
-- player, record, ...}.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local ladder = ARGV[1] .. '/' .. ARGV[2]
local key = base .. 'z:' .. ladder
local width, order, tied = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local total = call('ZCARD', key)
local start, stop, full = 0, 0, true
if ARGV[8] == 'range' then
  start, stop, full = tonumber(ARGV[9]), tonumber(ARGV[10]), false
elseif ARGV[8] == 'player' then
  local card = period and call('HGET', base .. 'cards', ARGV[9])
  local entry = card and find_entry(card, period, width)
  local offset = entry and call('ZRANK', key, sub(entry, 5, 4 + order) .. ARGV[9])
  if not offset then return false end
  start, stop = offset - tonumber(ARGV[10]), offset + tonumber(ARGV[11]) + 1
else
  local point = call('ZLEXCOUNT', key, '-', '(' .. ARGV[9])
  start, stop = point - tonumber(ARGV[10]), point + tonumber(ARGV[11])
  full = ARGV[12] == '1'
end
if full then
  if start < 0 then start, stop = 0, stop - start end
  if stop > total then start, stop = start - (stop - total), total end
end
start, stop = math.max(0, math.min(start, total)), math.min(stop, total)
local answer = { start, total, 0, 0, 0 }
if stop > start then
  local members = call('ZRANGE', key, start, stop - 1)
  local prefix = sub(members[1], 1, tied)
  answer[3] = call('ZLEXCOUNT', key, '-', '(' .. prefix)
  answer[4] = distinct_before(ladder, prefix, ARGV[6], tonumber(ARGV[7]))
  local last = sub(members[#members], 1, tied)
  answer[5] = call('ZLEXCOUNT', key, '-', after_prefix(last))
  local players = {}
  for n, member in ipairs(members) do players[n] = sub(member, order + 1) end
  local cards = call('HMGET', base .. 'cards', unpack(players))
  for n, player in ipairs(players) do
    local entry = cards[n] and find_entry(cards[n], period, width)
    answer[#answer + 1] = player
    answer[#answer + 1] = entry and sub(entry, 5) or ''
  end
end
return answer
