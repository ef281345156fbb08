#!lua
-- Say when the retention of periods ends: those that are to be archived stay until they are. ARGV:
-- number and end of retention in ms of each (0: not yet). Answers how many have another end now.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return 0 end
local names, released = base .. 'names', 0
for at = 1, #ARGV, 2 do
  local text = call('HGET', names, 'p' .. ARGV[at])
  local ends, name = string.match(text or '', '^(%d+) (.*)$')
  if ends and ends ~= ARGV[at + 1] then
    call('HSET', names, 'p' .. ARGV[at], ARGV[at + 1] .. ' ' .. name)
    released = released + 1
  end
end
return released
