#!lua
-- Empty the shard and let cards in, but no reads. ARGV: a token.
for _, ladder in ipairs(call('HKEYS', base .. 'ladders')) do
  call('UNLINK', base .. 'z:' .. ladder, base .. 'd:' .. ladder)
end
call('UNLINK', KEYS[1], base .. 'cards', base .. 'names', base .. 'ladders')
call('SET', base .. 'building', ARGV[1])
return 1
