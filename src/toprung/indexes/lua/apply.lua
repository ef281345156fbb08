#!lua
-- Apply cards by their versions: the newer one replaces the other, entry by entry, on all of its
-- ladders. First everything is read and worked out, then everything is written.
-- ARGV: mark, width of an entry, bytes of a key, bytes of a tied prefix (0: not dense), force (1
-- replaces a card of the same version and puts all its members again), then player, card, ...
-- Answers {the mark before, cards applied}; error UNDEFINED asks for define.lua first.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return redis.error_reply(not_ready) end
local mark, width, order = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tied, force = tonumber(ARGV[4]), ARGV[5] == '1'
local undefined = false
local removed, added, gone, come, versions, expiry = {}, {}, {}, {}, {}, {}
local memo = {}

local function ladders_of(entry)
  local name = sub(entry, 1, 8)
  local found = memo[name]
  if found then return found end
  found = {}
  local texts = call('HMGET', base .. 'names', 'p' .. sub(entry, 1, 4), 's' .. sub(entry, 5, 8))
  if texts[1] and texts[2] then
    local expires, period = string.match(texts[1], '^(%d+) (.*)$')
    for scope in string.gmatch(texts[2], '[^\n]+') do
      local ladder = period .. '/' .. scope
      expiry[ladder] = expires
      found[#found + 1] = ladder
    end
  else
    undefined = true
  end
  memo[name] = found
  return found
end

local function note(where, prefixes, entry, player, version, zeros)
  local key = sub(entry, 9, 8 + order)
  for _, ladder in ipairs(ladders_of(entry)) do
    local list = where[ladder]
    if not list then
      list = {}
      where[ladder] = list
    end
    if zeros then list[#list + 1] = '0' end
    list[#list + 1] = key .. player
    if tied > 0 then
      prefixes[ladder] = prefixes[ladder] or {}
      prefixes[ladder][sub(entry, 9, 8 + tied)] = true
    end
    if version > (versions[ladder] or 0) then versions[ladder] = version end
  end
end

local function replace(player, old, new)
  local version = version_of(new)
  local i, j = 9, 9
  while i <= #old or j <= #new do
    local before = i <= #old and number_at(old, i) or nil
    local after = j <= #new and number_at(new, j) or nil
    local gone_entry, new_entry
    if before and (not after or before <= after) then
      gone_entry = sub(old, i, i + width - 1)
      i = i + width
    end
    if after and (not before or after <= before) then
      new_entry = sub(new, j, j + width - 1)
      j = j + width
    end
    local same = gone_entry and new_entry
      and sub(gone_entry, 5, 8 + order) == sub(new_entry, 5, 8 + order)
    if same and not force then
      if gone_entry ~= new_entry then -- at or version, neither of which is in the key
        for _, ladder in ipairs(ladders_of(new_entry)) do
          if version > (versions[ladder] or 0) then versions[ladder] = version end
        end
      end
    else
      if gone_entry then note(removed, gone, gone_entry, player, version, false) end
      if new_entry then note(added, come, new_entry, player, version, true) end
    end
  end
end

local players, cards = {}, {}
for at = 6, #ARGV, 2 do
  players[#players + 1] = ARGV[at]
  cards[#cards + 1] = ARGV[at + 1]
end
local olds = call('HMGET', base .. 'cards', unpack(players))
local fields = {}
for n, player in ipairs(players) do
  local old, new = olds[n] or '', cards[n]
  local known = old ~= '' and version_of(old) or -1
  local version = version_of(new)
  if version > known or (force and version == known) then
    replace(player, old, new)
    fields[#fields + 1] = player
    fields[#fields + 1] = new
  end
end
if undefined then return redis.error_reply('UNDEFINED names are missing') end

local function flush(command, key, list)
  for from = 1, #list, 2000 do
    call(command, key, unpack(list, from, math.min(from + 1999, #list)))
  end
end

for ladder, list in pairs(removed) do flush('ZREM', base .. 'z:' .. ladder, list) end
for ladder, list in pairs(added) do
  local key = base .. 'z:' .. ladder
  flush('ZADD', key, list)
  if expiry[ladder] ~= '0' then call('PEXPIREAT', key, expiry[ladder], 'NX') end
end
if tied > 0 then
  for ladder, prefixes in pairs(gone) do
    for prefix in pairs(prefixes) do
      local left = call('ZLEXCOUNT', base .. 'z:' .. ladder, '[' .. prefix, after_prefix(prefix))
      if left == 0 then call('ZREM', base .. 'd:' .. ladder, prefix) end
    end
  end
  for ladder, prefixes in pairs(come) do
    local key, list = base .. 'd:' .. ladder, {}
    for prefix in pairs(prefixes) do
      list[#list + 1] = '0'
      list[#list + 1] = prefix
    end
    flush('ZADD', key, list)
    if expiry[ladder] ~= '0' then call('PEXPIREAT', key, expiry[ladder], 'NX') end
  end
end
flush('HSET', base .. 'cards', fields)
local told = {}
for ladder, version in pairs(versions) do
  if version > tonumber(call('HGET', base .. 'ladders', ladder) or '0') then
    local text = string.format('%.0f', version)
    call('HSET', base .. 'ladders', ladder, text)
    told[#told + 1] = { ladder, text }
  end
end
local before = tonumber(call('GET', base .. 'mark') or '0')
if mark > before then call('SET', base .. 'mark', ARGV[1]) end
if #told > 0 and call('EXISTS', KEYS[1]) == 1 then
  local prefix, shard = string.match(KEYS[1], '^(.-){(.-)}')
  call('PUBLISH', prefix .. 'changes', cjson.encode({ shard, told }))
end
return { before, #fields / 2 }
