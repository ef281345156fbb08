#!lua
-- Drop some ladders of periods that need not be kept any more. Keys have no expiry of their own: a
-- server that frees a large set when its time has come does nothing else meanwhile. ARGV: a cursor,
-- how many at a time. Answers {the next cursor, ladders dropped}; the cursor is 0 at the end.
local found = call('HSCAN', base .. 'ladders', ARGV[1], 'COUNT', ARGV[2])
local names, now, over, dropped = base .. 'names', now_ms(), {}, 0
for at = 1, #found[2], 2 do
  local ladder = found[2][at]
  local period = string.match(ladder, '^([^/]*/[^/]*)/')
  if over[period] == nil then
    local number = call('HGET', names, 'n' .. period)
    local text = number and call('HGET', names, 'p' .. number)
    over[period] = text and is_over(string.match(text, '^%d+'), now) or false
  end
  if over[period] then
    call('UNLINK', base .. 'z:' .. ladder, base .. 'd:' .. ladder)
    call('HDEL', base .. 'ladders', ladder)
    dropped = dropped + 1
  end
end
return { found[1], dropped }
