-- Shared by every script of a board shard. KEYS[1] is the shard's epoch key; all other keys begin
-- like it, so they are in its slot:
--
--   <base>epoch     present only while the shard is complete; absent = not ready
--   <base>emptying  present while its ladders are dropped: neither cards nor reads are accepted
--   <base>building  present while it is rebuilt: cards are accepted, reads are not
--   <base>mark      the greatest outbox id applied
--   <base>changes   how often ladders were changed: what several scripts read at one count of it
--                   was read at one moment
--   <base>cards     HASH player -> card, packed (native/cards.hpp) or plain: 8 bytes of version, then
--                   entries (toprung.domain.card). Versions of single entries count for nothing here
--   <base>names     HASH p<number> -> "<end of retention in ms, or 0> <window>/<period>", s<number> ->
--                   scopes, one per line, n<window>/<period> -> number
--   <base>horizon   a time in ms: periods whose retention had ended by then have no ladders
--   <base>ladders   HASH <window>/<period>/<scope> -> the position that changed it last
--   <base>scoped    the same as the epoch if the shard was filled by a version that lists scopes
--   <base>s:<window>/<period>  ZSET, every score 0: the scopes that have a ladder in the period
--   <base>z:<ladder>  ZSET, every score 0, member = key bytes .. player: the order
--   <base>d:<ladder>  ZSET of the distinct tied prefixes, on boards with ranking "dense"
--
-- A card has an entry for each period that its player has scored in and that is not over for a day,
-- so it may have thousands. Reading and writing it costs by its bytes: a script that takes several
-- cards has a budget for those, and takes at least one.
--
-- Numbers and versions are compared as numbers: Lua would compare strings by the server's locale.
local base = string.sub(KEYS[1], 1, -6)
local call, sub = redis.call, string.sub
local cards_key = base .. 'cards'
local not_ready = 'NOTREADY the shard has no complete order'

local function number_at(text, at)
  return (struct.unpack('>I4', text, at))
end

-- The first byte is a tag: 1 packed, 0 plain, 2 plain and cut (apply.lua).
local function version_of(card)
  local high, low = struct.unpack('>I4I4', card, 1)
  return high % 16777216 * 4294967296 + low
end

-- The server's clock is never asked: what is over is told by the processes (expire.lua).
local function horizon_ms()
  return tonumber(call('GET', base .. 'horizon') or '0')
end

-- Whether a period has no ladders any more; `ends` is the end of its retention, as in `names`.
local function is_over(ends, horizon)
  return ends ~= '0' and tonumber(ends) <= horizon
end

-- <window>/<period> of a ladder, and its scope.
local function split_ladder(ladder)
  return string.match(ladder, '^([^/]*/[^/]*)/(.*)$')
end

-- Where the columns of a packed card are: for each the bytes that all entries share and the place of
-- those that each has of its own within an entry; then the first byte of the entries, their width and
-- their number. `width` is that of a plain entry.
local function columns_of(card, width)
  local count = width / 8 -- period, scopes, and the words of a record but its version
  local at = 9 + math.ceil(count / 2)
  local shared, from, till, taken = {}, {}, {}, 0
  for n = 1, count do
    local sizes = string.byte(card, 9 + math.floor((n - 1) / 2))
    local own = n % 2 == 1 and math.floor(sizes / 16) or sizes % 16
    local length = (n <= 2 and 4 or 8) - own
    shared[n] = sub(card, at, at + length - 1)
    at = at + length
    from[n], till[n] = taken, taken + own - 1
    taken = taken + own
  end
  return { shared = shared, from = from, till = till, at = at, width = taken,
    entries = taken == 0 and 1 or (#card - at + 1) / taken }
end

-- The n-th entry of a packed card as a plain one whose version is that of the card.
local function plain_entry(card, columns, n)
  local at, parts = columns.at + (n - 1) * columns.width, {}
  for column, shared in ipairs(columns.shared) do
    parts[2 * column - 1] = shared
    parts[2 * column] = sub(card, at + columns.from[column], at + columns.till[column])
  end
  parts[#parts + 1] = '\0' .. sub(card, 2, 8)
  return table.concat(parts)
end

-- A card as a plain one. Versions in it are as they were kept; those of packed cards are all the card's.
local function plain_card(card, width)
  if string.byte(card, 1) ~= 1 then return card end
  local columns, entries = columns_of(card, width), { '\0' .. sub(card, 2, 8) }
  for n = 1, columns.entries do entries[n + 1] = plain_entry(card, columns, n) end
  return table.concat(entries)
end

-- Whether two plain cards have the same entries up to a byte, whatever the versions in them.
local function is_alike(one, other, last, width)
  for at = 9, last, width do
    if sub(one, at, at + width - 9) ~= sub(other, at, at + width - 9) then return false end
  end
  return true
end

-- The entry of a period on a packed card, by binary search; nil if there is none.
local function find_packed(card, period, width)
  local columns = columns_of(card, width)
  local shared = columns.shared[1]
  if sub(period, 1, #shared) ~= shared then return nil end
  local own, length = sub(period, #shared + 1), 4 - #shared
  local low, high = 1, columns.entries
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local at = columns.at + (middle - 1) * columns.width
    local found = sub(card, at, at + length - 1)
    if found == own then return sub(plain_entry(card, columns, middle), 5) end
    local is_before = false
    for n = 1, length do
      local one, other = string.byte(found, n), string.byte(own, n)
      if one ~= other then
        is_before = one < other
        break
      end
    end
    if is_before then low = middle + 1 else high = middle - 1 end
  end
  return nil
end

-- The entry of a period on a card (scopes and record), by binary search. The last word of the record is
-- a version: on a packed card, that of the card.
local function find_entry(card, period, width)
  if string.byte(card, 1) == 1 then return find_packed(card, period, width) end
  local wanted = number_at(period, 1)
  local low, high = 0, (#card - 8) / width - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local at = 9 + middle * width
    local number = number_at(card, at)
    if number == wanted then return sub(card, at + 4, at + width - 1) end
    if number < wanted then low = middle + 1 else high = middle - 1 end
  end
  return nil
end

-- Where the entries of a plain card begin whose periods have this number or a greater one.
local function first_entry(card, period, width)
  local low, high = 0, math.max(0, (#card - 8) / width)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number_at(card, 9 + middle * width) < period then low = middle + 1 else high = middle end
  end
  return 9 + low * width
end

-- Append player and record of members of a ladder while there are bytes for their cards; how many.
local function add_rows(answer, members, period, width, order, bytes)
  for n, member in ipairs(members) do
    if bytes <= 0 then return n - 1 end
    local player = sub(member, order + 1)
    local card = call('HGET', cards_key, player)
    local entry = period and card and find_entry(card, period, width)
    answer[#answer + 1] = player
    answer[#answer + 1] = entry and sub(entry, 5) or ''
    if card then bytes = bytes - #card end
  end
  return #members
end

-- The least bytes that sort after everything beginning with a prefix, as a range's exclusive end.
local function after_prefix(prefix)
  for at = #prefix, 1, -1 do
    local byte = string.byte(prefix, at)
    if byte < 255 then return '(' .. sub(prefix, 1, at - 1) .. string.char(byte + 1) end
  end
  return '+'
end

-- How far distinct results have been counted: `from` is the place in the order, as a range's start.
local function begin_sweep(from, count, most, units)
  return { from = from, count = tonumber(count), most = tonumber(most), units = tonumber(units), piece = 4 }
end

-- Count distinct tied prefixes up to a prefix, which lies further on than the last. False when
-- `units` of work are used up: each is a member that is read, and a call costs as much as twelve.
-- Where tie groups are small, reading on is ten times as fast as skipping from one to the next, so
-- the pieces that are read grow with the number of groups in the last one.
local function sweep_to(sweep, key, prefix)
  local till, tied = '(' .. prefix, #prefix
  while sweep.count <= sweep.most do
    if sweep.units <= 0 then return false end
    local piece = sweep.piece
    local found = call('ZRANGEBYLEX', key, sweep.from, till, 'LIMIT', '0', piece)
    local groups, last = 0, nil
    for n = 1, #found do
      local group = sub(found[n], 1, tied)
      if group ~= last then groups, last = groups + 1, group end
    end
    sweep.count, sweep.units = sweep.count + groups, sweep.units - 12 - #found
    -- Ids have no byte 255, so this sorts after everybody in the group.
    if last then sweep.from = '(' .. last .. string.rep('\255', 16) end
    if #found < piece then return true end
    sweep.piece = math.max(4, math.min(256, 2 * groups))
  end
  return true
end
