#!lua flags=no-writes
-- Which server this is, and whether it has lost what it knew. KEYS[1] is its marker, which goes when the
-- server is emptied. ARGV: 1 in a Cluster, whose epoch changes when slots are moved. Answers {run id,
-- epoch, marker}.
local server = string.match(call('INFO', 'server'), 'run_id:(%x+)')
local epoch = ''
if ARGV[1] == '1' then
  epoch = string.match(call('CLUSTER', 'INFO'), 'cluster_current_epoch:(%d+)')
end
return { server, epoch, call('GET', KEYS[1]) or '' }
