#!lua
-- Let cards into a shard whose ladders were dropped, but no reads. ARGV: the token. Answers 0 when
-- somebody else has begun to rebuild meanwhile.
if call('GET', base .. 'emptying') ~= ARGV[1] then return 0 end
call('UNLINK', cards_key, base .. 'names', base .. 'ladders', base .. 'horizon',
  base .. 'emptying')
call('SET', base .. 'scoped', ARGV[1])
call('SET', base .. 'building', ARGV[1])
return 1
