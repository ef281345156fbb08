#!lua
-- Apply cards by their versions: the newer one replaces the other, entry by entry, on all of its
-- ladders. First everything is read and worked out, then everything is written.
-- ARGV: outbox id, width of an entry, bytes of a key, bytes of a tied prefix (0: not dense), force (1
-- replaces a card of the same version and puts all its members again), units of work, the period
-- from which on to force the first card, then player, card, ...
-- A unit is a member to be put or taken off, or 4 KB of a card that are read or written. Entries that
-- are gone through cost a part of one. While there are units the next card is begun, and its entries
-- may take as many again. One that takes more is on more than a hundred ladders and is cut: the
-- shard keeps a card that is new up to some period, old from there on and of the old version, so
-- applying it once more does the rest.
-- Answers {the outbox id reached before, cards applied, cards done with, the period from which on the next was
-- cut or 0}; it is moved on once all are done with. Error UNDEFINED asks for define.lua first.
if call('EXISTS', KEYS[1], base .. 'building') == 0 then return redis.error_reply(not_ready) end
local outbox_id, width, order = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tied, force, budget = tonumber(ARGV[4]), ARGV[5] == '1', tonumber(ARGV[6])
local units = budget
local undefined, horizon = false, horizon_ms()
local removed, added, gone, come, versions = {}, {}, {}, {}, {}
local memo = {}

local function touch(ladder, version)
  local known = versions[ladder]
  units = units - (known and 0.1 or 2) -- it is noted with the ladder, and told
  if version > (known or 0) then versions[ladder] = version end
end

local function ladders_of(entry)
  local name = sub(entry, 1, 8)
  local found = memo[name]
  if found then return found end
  found = {}
  local texts = call('HMGET', base .. 'names', 'p' .. sub(entry, 1, 4), 's' .. sub(entry, 5, 8))
  if texts[1] and texts[2] then
    local ends, period = string.match(texts[1], '^(%d+) (.*)$')
    if not is_over(ends, horizon) then
      for scope in string.gmatch(texts[2], '[^\n]+') do
        found[#found + 1] = period .. '/' .. scope
      end
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
    units = units - 1
    if tied > 0 then
      prefixes[ladder] = prefixes[ladder] or {}
      prefixes[ladder][sub(entry, 9, 8 + tied)] = true
      units = units - 1
    end
    touch(ladder, version)
  end
end

-- Where two cards differ next. What is alike is compared in pieces that grow while it is, up to 64
-- entries: a score changes a few entries, of hundreds.
local function skip_alike(old, i, new, j)
  local piece = 1
  while piece >= 1 and i <= #old and j <= #new do
    local length = piece * width
    units = units - 0.1
    if sub(old, i, i + length - 1) == sub(new, j, j + length - 1) then
      i, j, piece = i + length, j + length, math.min(64, 2 * piece)
    else
      piece = piece / 2
    end
  end
  return math.min(i, #old + 1), math.min(j, #new + 1)
end

-- Answers the first period that was not looked at, if there are too many.
local function replace(player, old, new, from)
  local version = version_of(new)
  local i, j = first_entry(old, from, width), first_entry(new, from, width)
  local least, walked = units - budget, false
  while true do
    if not force then i, j = skip_alike(old, i, new, j) end
    local before = i <= #old and number_at(old, i) or nil
    local after = j <= #new and number_at(new, j) or nil
    if not before and not after then return nil end
    if walked and units < least then return math.min(before or after, after or before) end
    walked, units = true, units - 0.25
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
        for _, ladder in ipairs(ladders_of(new_entry)) do touch(ladder, version) end
      end
    else
      if gone_entry then note(removed, gone, gone_entry, player, version, false) end
      if new_entry then note(added, come, new_entry, player, version, true) end
    end
  end
end

local players, cards = {}, {}
for at = 8, #ARGV, 2 do
  players[#players + 1] = ARGV[at]
  cards[#cards + 1] = ARGV[at + 1]
end
local fields, done, cut = {}, 0, nil
for n, player in ipairs(players) do
  if units <= 0 then break end
  local old, new = call('HGET', cards_key, player) or '', cards[n]
  units = units - (#old + #new) / 4096
  local known = old ~= '' and version_of(old) or -1
  local version = version_of(new)
  if version > known or (force and version == known) then
    local from = force and n == 1 and tonumber(ARGV[7]) or 0
    -- A newer card that was cut meanwhile has left its entries there: then all of it once more.
    if from > 0 and sub(old, 9, first_entry(old, from, width) - 1)
      ~= sub(new, 9, first_entry(new, from, width) - 1) then
      from = 0
    end
    cut = replace(player, old, new, from)
    fields[#fields + 1] = player
    if cut then
      local known_version = old ~= '' and sub(old, 1, 8) or string.rep('\0', 8)
      local entries = sub(new, 9, first_entry(new, cut, width) - 1)
      fields[#fields + 1] = known_version .. entries .. sub(old, first_entry(old, cut, width))
      break
    end
    fields[#fields + 1] = new
  end
  done = n
end
if undefined then return redis.error_reply('UNDEFINED names are missing') end

local function flush(command, key, list)
  for from = 1, #list, 2000 do
    call(command, key, unpack(list, from, math.min(from + 1999, #list)))
  end
end

for ladder, list in pairs(removed) do flush('ZREM', base .. 'z:' .. ladder, list) end
for ladder, list in pairs(added) do flush('ZADD', base .. 'z:' .. ladder, list) end
if tied > 0 then
  for ladder, prefixes in pairs(gone) do
    local key, empty = base .. 'z:' .. ladder, {}
    for prefix in pairs(prefixes) do
      local left = call('ZRANGEBYLEX', key, '[' .. prefix, after_prefix(prefix), 'LIMIT', '0', '1')
      if not left[1] then empty[#empty + 1] = prefix end
    end
    flush('ZREM', base .. 'd:' .. ladder, empty)
  end
  for ladder, prefixes in pairs(come) do
    local list = {}
    for prefix in pairs(prefixes) do
      list[#list + 1] = '0'
      list[#list + 1] = prefix
    end
    flush('ZADD', base .. 'd:' .. ladder, list)
  end
end
flush('HSET', cards_key, fields)
if next(removed) or next(added) then call('INCR', base .. 'changes') end
local ladders, told, noted, scopes = {}, {}, {}, {}
for ladder in pairs(versions) do ladders[#ladders + 1] = ladder end
for from = 1, #ladders, 2000 do
  local till = math.min(from + 1999, #ladders)
  local known = call('HMGET', base .. 'ladders', unpack(ladders, from, till))
  for at = from, till do
    local ladder = ladders[at]
    if not known[at - from + 1] then
      local period, scope = split_ladder(ladder)
      local list = scopes[period] or {}
      scopes[period] = list
      list[#list + 1] = '0'
      list[#list + 1] = scope
    end
    if versions[ladder] > tonumber(known[at - from + 1] or '0') then
      local text = string.format('%.0f', versions[ladder])
      noted[#noted + 1] = ladder
      noted[#noted + 1] = text
      told[#told + 1] = { ladder, text }
    end
  end
end
flush('HSET', base .. 'ladders', noted)
for period, list in pairs(scopes) do flush('ZADD', base .. 's:' .. period, list) end
local before = tonumber(call('GET', base .. 'mark') or '0')
if outbox_id > before and done == #players then call('SET', base .. 'mark', ARGV[1]) end
if #told > 0 and call('EXISTS', KEYS[1]) == 1 then
  local prefix, shard = string.match(KEYS[1], '^(.-){(.-)}')
  call('PUBLISH', prefix .. 'changes', cjson.encode({ shard, told }))
end
return { before, #fields / 2, done, cut or 0 }
