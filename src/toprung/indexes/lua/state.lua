#!lua flags=no-writes
-- Whether the shard is complete, and the outbox id it has reached.
return { call('EXISTS', KEYS[1]), call('GET', base .. 'mark') or '0' }
