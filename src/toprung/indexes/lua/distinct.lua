#!lua flags=no-writes
-- Go on counting the distinct results of a ladder. ARGV: ladder, the most that are counted, units
-- of work, where the scan ended, its count, then tied prefixes in the order of the ladder. Answers
-- {changes, where the scan ended now, its count, then the distinct results before each prefix that
-- was reached}.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local key = base .. 'z:' .. ARGV[1]
local sweep = begin_sweep(ARGV[4], ARGV[5], ARGV[2], ARGV[3])
local answer = { tonumber(call('GET', base .. 'changes') or '0'), '', 0 }
for at = 6, #ARGV do
  if not sweep_to(sweep, key, ARGV[at]) then break end
  answer[#answer + 1] = sweep.count
end
answer[2], answer[3] = sweep.from, sweep.count
return answer
