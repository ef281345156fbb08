-- Shared by the scripts that change ladders, after common.lua.
--
-- `versions` collects the greatest version that changed each ladder.
local versions, undefined, horizon = {}, false, horizon_ms()
local stops, periods = {}, {}

local function touch(ladder, version)
  if version > (versions[ladder] or 0) then versions[ladder] = version end
end

-- <window>/<period> of a period's number; false when its ladders were dropped, nil if it is unknown.
local function period_of(number, text)
  local found = periods[number]
  if found == nil then
    text = text or call('HGET', base .. 'names', 'p' .. number)
    if not text then
      undefined = true
      return nil
    end
    local ends, period = string.match(text, '^(%d+) (.*)$')
    found = not is_over(ends, horizon) and period
    periods[number] = found
  end
  return found
end

-- The ladders of a stop (period and scopes, 4 bytes each).
local function ladders_of(stop)
  local found = stops[stop]
  if found then return found end
  found = {}
  local number = sub(stop, 1, 4)
  local texts = call('HMGET', base .. 'names', 'p' .. number, 's' .. sub(stop, 5, 8))
  if texts[1] and texts[2] then
    local period = period_of(number, texts[1])
    if period then
      for scope in string.gmatch(texts[2], '[^\n]+') do found[#found + 1] = period .. '/' .. scope end
    end
  else
    undefined = true
  end
  stops[stop] = found
  return found
end

local function flush(command, key, list)
  for from = 1, #list, 2000 do
    call(command, key, unpack(list, from, math.min(from + 1999, #list)))
  end
end

-- Keep the list of distinct prefixes of a ladder, after its members have changed: prefixes that members
-- left with, and those that they came with.
local function note_distinct(ladder, gone, come)
  local key, empty, list = base .. 'z:' .. ladder, {}, {}
  for prefix in pairs(gone) do
    local left = call('ZRANGEBYLEX', key, '[' .. prefix, after_prefix(prefix), 'LIMIT', '0', '1')
    if not left[1] then empty[#empty + 1] = prefix end
  end
  flush('ZREM', base .. 'd:' .. ladder, empty)
  for prefix in pairs(come) do
    list[#list + 1] = '0'
    list[#list + 1] = prefix
  end
  flush('ZADD', base .. 'd:' .. ladder, list)
end

-- Note the versions of ladders that were changed, list scopes that are new, and tell whoever listens.
local function tell_changes()
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
  if #told > 0 and call('EXISTS', KEYS[1]) == 1 then
    local prefix, shard = string.match(KEYS[1], '^(.-){(.-)}')
    call('PUBLISH', prefix .. 'changes', cjson.encode({ shard, told }))
  end
end

-- Move the greatest outbox id on; the one before.
local function reach(outbox_id)
  local before = tonumber(call('GET', base .. 'mark') or '0')
  if outbox_id > before then call('SET', base .. 'mark', string.format('%.0f', outbox_id)) end
  return before
end
