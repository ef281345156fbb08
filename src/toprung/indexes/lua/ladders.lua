#!lua flags=no-writes
-- The shard's ladders that have entries: name, size, version, ...
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local known = call('HGETALL', base .. 'ladders')
local answer = {}
for at = 1, #known, 2 do
  local size = call('ZCARD', base .. 'z:' .. known[at])
  if size > 0 then
    answer[#answer + 1] = known[at]
    answer[#answer + 1] = size
    answer[#answer + 1] = known[at + 1]
  end
end
return answer
