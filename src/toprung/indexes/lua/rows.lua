#!lua flags=no-writes
-- The entries of one ladder that follow a member. ARGV: <window>/<period>, scope, width of an
-- entry, bytes of a key, bytes of a tied prefix, bytes of cards to read, the member, how many.
-- Answers {changes, the last member told, entries until the end of its tie group, player, record,
-- ...}; there may be less than wanted.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local key = base .. 'z:' .. ARGV[1] .. '/' .. ARGV[2]
local members = call('ZRANGEBYLEX', key, '(' .. ARGV[7], '+', 'LIMIT', '0', ARGV[8])
local answer = { tonumber(call('GET', base .. 'changes') or '0'), '', 0 }
if members[1] then
  local width, order, bytes = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
  local last = members[add_rows(answer, members, period, width, order, bytes)]
  answer[2] = last
  answer[3] = call('ZLEXCOUNT', key, '-', after_prefix(sub(last, 1, tonumber(ARGV[5]))))
end
return answer
