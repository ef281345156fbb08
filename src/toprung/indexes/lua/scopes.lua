#!lua flags=no-writes
-- Some scopes of a period, by name. ARGV: <window>/<period>, the scope after which to begin, how many
-- to look at. Answers {the last one looked at, or '' at the end; scope, size, ...} of those that have
-- entries, without those that nobody reads, which begin with a ~ and so come last; nothing if the shard keeps no lists of scopes.
local epoch = call('GET', KEYS[1])
if not epoch then return redis.error_reply(not_ready) end
if call('GET', base .. 'scoped') ~= epoch then return nil end
local scopes = call('ZRANGEBYLEX', base .. 's:' .. ARGV[1], '(' .. ARGV[2], '(~', 'LIMIT', '0', ARGV[3])
local answer = { #scopes == tonumber(ARGV[3]) and scopes[#scopes] or '' }
for _, scope in ipairs(scopes) do
  local size = call('ZCARD', base .. 'z:' .. ARGV[1] .. '/' .. scope)
  if size > 0 then
    answer[#answer + 1] = scope
    answer[#answer + 1] = size
  end
end
return answer
