#!lua
-- Set the horizon, and drop some ladders of periods whose retention had ended by then. Keys have no
-- expiry of their own: a server that frees a large set when its time has come does nothing else
-- meanwhile. ARGV: the horizon in ms, 1 if it may also be an earlier one than before (then all cards
-- must be put again), a cursor, how many at a time. The same horizon is worked through once more: a
-- period may have been archived since, or whoever dropped ladders has died. Answers {the next cursor,
-- ladders dropped}; the cursor is 0 at the end.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return { '0', 0 } end
if ARGV[3] == '0' then
  if ARGV[2] == '0' and tonumber(ARGV[1]) < horizon_ms() then return { '0', 0 } end
  call('SET', base .. 'horizon', ARGV[1])
end
local horizon = horizon_ms()
local found = call('HSCAN', base .. 'ladders', ARGV[3], 'COUNT', ARGV[4])
local names, over, dropped = base .. 'names', {}, 0
for at = 1, #found[2], 2 do
  local ladder = found[2][at]
  local period, scope = split_ladder(ladder)
  if over[period] == nil then
    local number = call('HGET', names, 'n' .. period)
    local text = number and call('HGET', names, 'p' .. number)
    over[period] = text and is_over(string.match(text, '^%d+'), horizon) or false
  end
  if over[period] then
    call('UNLINK', base .. 'z:' .. ladder, base .. 'd:' .. ladder)
    call('HDEL', base .. 'ladders', ladder)
    call('ZREM', base .. 's:' .. period, scope)
    dropped = dropped + 1
  end
end
return { found[1], dropped }
