#!lua flags=no-writes
-- Some of the shard's ladders that have entries. ARGV: a cursor, how many at a time. Answers {the
-- next cursor, name, size, ...}; the cursor is 0 at the end, and a ladder may be told twice.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local found = call('HSCAN', base .. 'ladders', ARGV[1], 'COUNT', ARGV[2])
local known, answer = found[2], { found[1] }
for at = 1, #known, 2 do
  local size = call('ZCARD', base .. 'z:' .. known[at])
  if size > 0 then
    answer[#answer + 1] = known[at]
    answer[#answer + 1] = size
  end
end
return answer
