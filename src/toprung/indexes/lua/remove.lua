#!lua
-- Forget the shard.
for _, ladder in ipairs(call('HKEYS', base .. 'ladders')) do
  call('UNLINK', base .. 'z:' .. ladder, base .. 'd:' .. ladder)
end
call('UNLINK', KEYS[1], base .. 'building', base .. 'mark', base .. 'cards', base .. 'names',
  base .. 'ladders')
return 1
