#!lua flags=no-writes
-- How many entries of a ladder lie before each key or prefix. ARGV: ladder, then keys. Answers the
-- total, `changes`, then the counts.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local key = base .. 'z:' .. ARGV[1]
local answer = { call('ZCARD', key), tonumber(call('GET', base .. 'changes') or '0') }
for at = 2, #ARGV do answer[at + 1] = call('ZLEXCOUNT', key, '-', '(' .. ARGV[at]) end
return answer
