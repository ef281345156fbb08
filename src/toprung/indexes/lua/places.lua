#!lua flags=no-writes
-- Where players stand on one ladder. ARGV: <window>/<period>, scope, width of an entry, bytes of a
-- key, bytes of a tied prefix, how distinct results are counted ('', 'set', 'scan'), the most that
-- are scanned, then players. Answers {total, then per player false or {offset, tied before,
-- distinct before, tied until, record}}.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local ladder = ARGV[1] .. '/' .. ARGV[2]
local key = base .. 'z:' .. ladder
local width, order, tied = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local answer = { call('ZCARD', key) }
for at = 8, #ARGV do
  local player, place = ARGV[at], false
  local card = period and call('HGET', base .. 'cards', player)
  local entry = card and find_entry(card, period, width)
  if entry then
    local offset = call('ZRANK', key, sub(entry, 5, 4 + order) .. player)
    if offset then
      local prefix = sub(entry, 5, 4 + tied)
      place = {
        offset,
        call('ZLEXCOUNT', key, '-', '(' .. prefix),
        distinct_before(ladder, prefix, ARGV[6], tonumber(ARGV[7])),
        call('ZLEXCOUNT', key, '-', after_prefix(prefix)),
        sub(entry, 5),
      }
    end
  end
  answer[#answer + 1] = place
end
return answer
