#!lua
-- Drop some ladders of a shard that is being emptied. ARGV: the token, a cursor, how many at a time.
-- Answers the next cursor, 0 at the end; -1 when somebody else has begun to rebuild meanwhile.
if call('GET', base .. 'emptying') ~= ARGV[1] then return -1 end
local found = call('HSCAN', base .. 'ladders', ARGV[2], 'COUNT', ARGV[3])
for at = 1, #found[2], 2 do
  local ladder = found[2][at]
  local period = split_ladder(ladder)
  call('UNLINK', base .. 'z:' .. ladder, base .. 'd:' .. ladder, base .. 's:' .. period)
end
return found[1]
