#!lua flags=no-writes
-- Consecutive entries of one ladder. ARGV: <window>/<period>, scope, width of an entry, bytes of a
-- key, bytes of a tied prefix, how distinct results are counted ('', 'set', 'scan'), the most that
-- are scanned, units of work for that, the most rows that are told, bytes of cards to read, then
--   'range', start, stop           offsets [start, stop)
--   'player', id, above, below     the player with neighbours, shifted so that it stays full
--   'point', bytes, above, below, full   before the point and from it on
-- Answers false, or {start, stop, total, tied before, distinct before or -1, changes or 0, where
-- the scan ended, its count, the first row's tied prefix, the last member told, entries until the end
-- of its tie group, player, record, ...}. rows.lua tells the rows that are missing up to `stop`, distinct.lua goes on counting.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local ladder = ARGV[1] .. '/' .. ARGV[2]
local key = base .. 'z:' .. ladder
local width, order, tied = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local total = call('ZCARD', key)
local start, stop, full = 0, 0, true
if ARGV[11] == 'range' then
  start, stop, full = tonumber(ARGV[12]), tonumber(ARGV[13]), false
elseif ARGV[11] == 'player' then
  local card = period and call('HGET', cards_key, ARGV[12])
  local entry = card and find_entry(card, period, width)
  local offset = entry and call('ZRANK', key, sub(entry, 5, 4 + order) .. ARGV[12])
  if not offset then return false end
  start, stop = offset - tonumber(ARGV[13]), offset + tonumber(ARGV[14]) + 1
else
  local point = call('ZLEXCOUNT', key, '-', '(' .. ARGV[12])
  start, stop = point - tonumber(ARGV[13]), point + tonumber(ARGV[14])
  full = ARGV[15] == '1'
end
if full then
  if start < 0 then start, stop = 0, stop - start end
  if stop > total then start, stop = start - (stop - total), total end
end
start, stop = math.max(0, math.min(start, total)), math.min(stop, total)
if stop <= start then return { start, start, total, 0, 0, 0, '-', 0, '', '', 0 } end
local most = math.min(stop, start + tonumber(ARGV[9]))
local members = call('ZRANGE', key, start, most - 1)
local prefix = sub(members[1], 1, tied)
local before = call('ZLEXCOUNT', key, '-', '(' .. prefix)
local answer = { start, stop, total, before, 0, 0, '-', 0, prefix, '', 0 }
local told = add_rows(answer, members, period, width, order, tonumber(ARGV[10]))
answer[10] = members[told]
answer[11] = call('ZLEXCOUNT', key, '-', after_prefix(sub(members[told], 1, tied)))
local is_whole = start + told == stop
if ARGV[6] == 'set' then
  answer[5] = call('ZLEXCOUNT', base .. 'd:' .. ladder, '-', '(' .. prefix)
elseif ARGV[6] == 'scan' then
  local sweep = begin_sweep('-', 0, ARGV[7], ARGV[8])
  local is_counted = sweep_to(sweep, key, prefix)
  answer[5], answer[7], answer[8] = is_counted and sweep.count or -1, sweep.from, sweep.count
  is_whole = is_whole and is_counted
end
if not is_whole then answer[6] = tonumber(call('GET', base .. 'changes') or '0') end
return answer
