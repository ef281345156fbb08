#!lua
-- Apply cards by their versions: the newer one replaces the other, entry by entry, on all of its
-- ladders. First everything is read and worked out, then everything is written.
-- ARGV: outbox id, width of an entry, bytes of a key, bytes of a tied prefix (0: not dense), force (1
-- replaces a card of the same version and puts all its members again), units of work, the period
-- from which on to force the first card, whether cards that are cut are tagged (1), then player, card,
-- packed card ... (empty: keep the plain one).
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
local removed, added, gone, come = {}, {}, {}, {}

local function spend(ladder)
  units = units - (versions[ladder] and 0.1 or 2) -- it is noted with the ladder, and told
end

local function note(where, prefixes, entry, player, version, zeros)
  local key = sub(entry, 9, 8 + order)
  for _, ladder in ipairs(ladders_of(sub(entry, 1, 8))) do
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
    spend(ladder)
    touch(ladder, version)
  end
end

-- What decides where an entry is, without its version: that of a packed card's is the card's.
local function place_of(entry)
  return sub(entry, 1, width - 8)
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
    walked, units = true, units - 0.1
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
      if place_of(gone_entry) ~= place_of(new_entry) then -- its time, which is not in the key
        for _, ladder in ipairs(ladders_of(sub(new_entry, 1, 8))) do
          spend(ladder)
          touch(ladder, version)
        end
      end
    else
      if gone_entry then note(removed, gone, gone_entry, player, version, false) end
      if new_entry then note(added, come, new_entry, player, version, true) end
    end
  end
end

local players, cards, packed = {}, {}, {}
local tag = ARGV[8] == '1' and '\2' or '\0' -- of cards that are cut: no move begins from one
for at = 9, #ARGV, 3 do
  players[#players + 1] = ARGV[at]
  cards[#cards + 1] = ARGV[at + 1]
  packed[#packed + 1] = ARGV[at + 2]
end
local fields, done, cut = {}, 0, nil
for n, player in ipairs(players) do
  if units <= 0 then break end
  local kept = call('HGET', cards_key, player) or ''
  local known, version = kept ~= '' and version_of(kept) or -1, version_of(cards[n])
  units = units - (#kept + #cards[n]) / 4096
  if version > known or (force and version == known) then
    local old, new = plain_card(kept, width), cards[n]
    if old ~= kept then units = units - 0.1 * #old / width end
    local from = force and n == 1 and tonumber(ARGV[7]) or 0
    -- A newer card that was cut meanwhile has left its entries there: then all of it once more.
    local last = first_entry(old, from, width)
    if last ~= first_entry(new, from, width) or not is_alike(old, new, last - 1, width) then from = 0 end
    cut = replace(player, old, new, from)
    fields[#fields + 1] = player
    if cut then
      local known_version = tag .. (old ~= '' and sub(old, 2, 8) or string.rep('\0', 7))
      local entries = sub(new, 9, first_entry(new, cut, width) - 1)
      fields[#fields + 1] = known_version .. entries .. sub(old, first_entry(old, cut, width))
      break
    end
    fields[#fields + 1] = packed[n] ~= '' and packed[n] or new
  end
  done = n
end
if undefined then return redis.error_reply('UNDEFINED names are missing') end

for ladder, list in pairs(removed) do flush('ZREM', base .. 'z:' .. ladder, list) end
for ladder, list in pairs(added) do flush('ZADD', base .. 'z:' .. ladder, list) end
if tied > 0 then
  for ladder in pairs(versions) do note_distinct(ladder, gone[ladder] or {}, come[ladder] or {}) end
end
flush('HSET', cards_key, fields)
if next(removed) or next(added) then call('INCR', base .. 'changes') end
tell_changes()
return { reach(done == #players and outbox_id or 0), #fields / 2, done, cut or 0 }
