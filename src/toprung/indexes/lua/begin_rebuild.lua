#!lua
-- Let in neither cards nor reads, so that empty.lua can drop the ladders. ARGV: a token.
call('UNLINK', KEYS[1], base .. 'building')
call('SET', base .. 'emptying', ARGV[1])
return 1
