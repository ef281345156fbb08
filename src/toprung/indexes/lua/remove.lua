#!lua
-- Forget a shard whose ladders were dropped. ARGV: the token.
if call('GET', base .. 'emptying') ~= ARGV[1] then return 0 end
call('UNLINK', base .. 'emptying', base .. 'mark', base .. 'changes', cards_key,
  base .. 'names', base .. 'ladders', base .. 'horizon', base .. 'scoped')
return 1
