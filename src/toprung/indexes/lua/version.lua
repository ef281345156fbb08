#!lua flags=no-writes
-- The position that changed a ladder last. ARGV: ladder.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
return call('HGET', base .. 'ladders', ARGV[1]) or '0'
