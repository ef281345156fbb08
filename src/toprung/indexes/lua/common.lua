-- Shared by every script of a board shard. KEYS[1] is the shard's epoch key; all other keys begin
-- like it, so they are in its slot:
--
--   <base>epoch     present only while the shard is complete; absent = not ready
--   <base>building  present while it is rebuilt: cards are accepted, reads are not
--   <base>mark      the greatest outbox id applied
--   <base>cards     HASH player -> 8 bytes of version, then entries (toprung.domain.card)
--   <base>names     HASH p<number> -> "<expiry in ms or 0> <window>/<period>", s<number> -> scopes,
--                   one per line, n<window>/<period> -> number
--   <base>ladders   HASH <window>/<period>/<scope> -> the position that changed it last
--   <base>z:<ladder>  ZSET, every score 0, member = key bytes .. player: the order
--   <base>d:<ladder>  ZSET of the distinct tied prefixes, on boards with ranking "dense"
--
-- Numbers and versions are compared as numbers: Lua would compare strings by the server's locale.
local base = string.sub(KEYS[1], 1, -6)
local call, sub = redis.call, string.sub
local not_ready = 'NOTREADY the shard has no complete order'

local function number_at(text, at)
  return (struct.unpack('>I4', text, at))
end

local function version_of(card)
  return (struct.unpack('>I8', card, 1))
end

-- The entry of a period on a card (scopes and record), by binary search.
local function find_entry(card, period, width)
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

-- The least bytes that sort after everything beginning with a prefix, as a range's exclusive end.
local function after_prefix(prefix)
  for at = #prefix, 1, -1 do
    local byte = string.byte(prefix, at)
    if byte < 255 then return '(' .. sub(prefix, 1, at - 1) .. string.char(byte + 1) end
  end
  return '+'
end

-- How many distinct tied prefixes lie before one: counted, or skip-scanned up to `most`.
local function distinct_before(ladder, prefix, dense, most)
  if dense == 'set' then return call('ZLEXCOUNT', base .. 'd:' .. ladder, '-', '(' .. prefix) end
  if dense ~= 'scan' then return 0 end
  local count, from = 0, '-'
  while count <= most do
    local found = call('ZRANGE', base .. 'z:' .. ladder, from, '(' .. prefix, 'BYLEX', 'LIMIT', 0, 1)
    if not found[1] then return count end
    count = count + 1
    local beyond = after_prefix(sub(found[1], 1, #prefix))
    if beyond == '+' then return count end
    from = '[' .. sub(beyond, 2)
  end
  return count
end
