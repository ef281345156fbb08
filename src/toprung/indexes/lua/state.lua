#!lua flags=no-writes
-- Whether the shard is complete, the outbox id it has reached, and the run id of the server.
local server = string.match(call('INFO', 'server'), 'run_id:(%x+)')
return { call('EXISTS', KEYS[1]), call('GET', base .. 'mark') or '0', server }
