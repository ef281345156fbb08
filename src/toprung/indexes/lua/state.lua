#!lua flags=no-writes
-- Whether the shard is complete, and its mark.
return { call('EXISTS', KEYS[1]), call('GET', base .. 'mark') or '0' }
