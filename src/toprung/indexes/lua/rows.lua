#!lua flags=no-writes
-- The entries of one ladder that follow a member. ARGV: <window>/<period>, scope, width of an
-- entry, bytes of a key, bytes of a tied prefix, the member, how many. Answers {changes, the last
-- member, entries until the end of its tie group, player, record, ...}.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local period = call('HGET', base .. 'names', 'n' .. ARGV[1])
local key = base .. 'z:' .. ARGV[1] .. '/' .. ARGV[2]
local members = call('ZRANGEBYLEX', key, '(' .. ARGV[6], '+', 'LIMIT', '0', ARGV[7])
local last = members[#members]
local answer = { tonumber(call('GET', base .. 'changes') or '0'), last or '', 0 }
if last then
  answer[3] = call('ZLEXCOUNT', key, '-', after_prefix(sub(last, 1, tonumber(ARGV[5]))))
  add_rows(answer, members, period, tonumber(ARGV[3]), tonumber(ARGV[4]))
end
return answer
