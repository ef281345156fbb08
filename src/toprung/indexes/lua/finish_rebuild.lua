#!lua
-- Open the shard for reads, unless it was lost meanwhile. ARGV: the token.
if call('GET', base .. 'building') ~= ARGV[1] then return 0 end
call('SET', KEYS[1], ARGV[1])
call('DEL', base .. 'building')
return 1
