#!lua
-- Say what numbers in cards stand for. ARGV: how many periods, then number, name, end of retention in
-- ms (0: never) of each, then number, name of each tuple of scopes.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return redis.error_reply(not_ready) end
local names, at = base .. 'names', 2
for _ = 1, tonumber(ARGV[1]) do
  local number, name, ends = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  call('HSETNX', names, 'p' .. number, ends .. ' ' .. name)
  call('HSET', names, 'n' .. name, number)
  at = at + 3
end
while at < #ARGV do
  call('HSET', names, 's' .. ARGV[at], ARGV[at + 1])
  at = at + 2
end
return 1
