#!lua flags=no-writes
-- Where players stand on one ladder. ARGV: <window>/<period>, scope, width of an entry, bytes of a
-- key, bytes of a tied prefix, how distinct results are counted ('', 'set', 'scan'), the most that
-- are scanned, units of work for that, bytes of cards to read, whether to tell `changes` in any
-- case, then players.
-- Answers {total, changes or 0, where the scan ended, its count, then per player false or {offset,
-- tied before, distinct before, tied until, record}}; a distinct count that the scan did not reach is
-- -1. There are fewer players when the bytes were used up; then nothing was scanned.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local ladder = ARGV[1] .. '/' .. ARGV[2]
local key = base .. 'z:' .. ladder
local width, order, tied = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local how, bytes, found = ARGV[6], tonumber(ARGV[9]), {}
local answer = { call('ZCARD', key), 0, '-', 0 }
for at = 11, #ARGV do
  if bytes <= 0 then break end
  local player, place = ARGV[at], false
  local card = period and call('HGET', cards_key, player)
  local entry = card and find_entry(card, period, width)
  if entry then
    local offset = call('ZRANK', key, sub(entry, 5, 4 + order) .. player)
    if offset then
      local prefix = sub(entry, 5, 4 + tied)
      local distinct = 0
      if how == 'set' then
        distinct = call('ZLEXCOUNT', base .. 'd:' .. ladder, '-', '(' .. prefix)
      elseif how == 'scan' then
        distinct = -1
      end
      local before = call('ZLEXCOUNT', key, '-', '(' .. prefix)
      local until_ = call('ZLEXCOUNT', key, '-', after_prefix(prefix))
      place = { offset, before, distinct, until_, sub(entry, 5) }
      found[#found + 1] = place
    end
  end
  answer[#answer + 1] = place
  if card then bytes = bytes - #card end
end
local is_whole = #answer - 4 == #ARGV - 10
if how == 'scan' and is_whole then
  local sweep = begin_sweep('-', 0, ARGV[7], ARGV[8])
  table.sort(found, function(one, other) return one[1] < other[1] end)
  for _, place in ipairs(found) do
    is_whole = sweep_to(sweep, key, sub(place[5], 1, tied))
    if not is_whole then break end
    place[3] = sweep.count
  end
  answer[3], answer[4] = sweep.from, sweep.count
end
if ARGV[10] == '1' or not is_whole then answer[2] = tonumber(call('GET', base .. 'changes') or '0') end
return answer
