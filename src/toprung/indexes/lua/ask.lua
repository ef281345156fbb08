#!lua flags=no-writes
-- Answers questions about ladders of one shard, all of them of one moment.
-- ARGV: units of work, bytes of cards to read, the most rows of an answer, how many ladders the
-- questions are about, then of each ladder
--   <window>/<period>, scope, width of an entry, bytes of a key, bytes of a tied prefix, how distinct
--   results are counted ('', 'set', 'scan'), the most that are scanned
-- then of each question: its kind, the number of its ladder, how many words follow, and these.
-- Answers {changes, answer, ...}. There are fewer answers than questions when the units or the bytes
-- were used up, but always one; a question that fails has an error for an answer.
--
--   places   '1' to scan, players        {total, where the scan ended, its count, false or {offset,
--            tied before, distinct before, tied until, record}, ...}: fewer players when the bytes were
--            used up, and then nothing was scanned; a distinct count that the scan did not reach is -1
--   records  players                     {false or the record, ...}: fewer when the bytes were used up
--   range    start, stop                 a slice: the offsets [start, stop)
--   player   id, above, below            a slice: the player with neighbours, shifted so that it is full
--   point    bytes, above, below, full   a slice: entries before the point and from it on
--   rows     member, how many            {tied until, ats, members}: those that follow a member
--   counts   keys or prefixes            {total, how many entries lie before each, ...}
--   version                              the position that changed the ladder last
--
-- A slice is {start, stop, total, tied before, distinct before or -1, where the scan ended, its count,
-- tied until, ats, members}, or false without the player. It may have fewer members than up to
-- `stop`: `rows` tells the others. A member is a key and a player; `ats` are the words of time where
-- keys have none, false where they have. `tied until` counts all entries up to the end of the tie
-- group of the last one told. A record ends with the version of the player's whole card.
--
-- A unit is a member that is read; a call costs as much as twelve. Units are looked at between answers: one
-- answer may take more of them than there are, and callers bound how much is asked in one question.
if call('EXISTS', KEYS[1]) == 0 then return redis.error_reply(not_ready) end
local budget, bytes, rows_most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local units = budget

local ladders, at = {}, 5
for n = 1, tonumber(ARGV[4]) do
  local name = ARGV[at] .. '/' .. ARGV[at + 1]
  ladders[n] = {
    name = name, key = base .. 'z:' .. name, span = ARGV[at], width = tonumber(ARGV[at + 2]),
    order = tonumber(ARGV[at + 3]), tied = tonumber(ARGV[at + 4]), how = ARGV[at + 5], most = ARGV[at + 6],
  }
  at = at + 7
end

local function total_of(ladder)
  if not ladder.total then
    units, ladder.total = units - 12, call('ZCARD', ladder.key)
  end
  return ladder.total
end

-- A player's entry on a ladder, with its card; the card may have no such entry.
local function entry_of(ladder, player)
  if ladder.period == nil then
    ladder.period = call('HGET', base .. 'names', 'n' .. ladder.span)
  end
  units = units - 12
  local card = ladder.period and call('HGET', cards_key, player)
  if not card then return nil, nil end
  bytes = bytes - #card
  return find_entry(card, ladder.period, ladder.width), card
end

-- The words of a record but the last, which is the version of the card.
local function record_of(ladder, entry, card)
  return sub(entry, 5, 12 + ladder.tied) .. '\0' .. sub(card, 2, 8)
end

local function offset_of(ladder, entry, player)
  units = units - 12
  return entry and call('ZRANK', ladder.key, sub(entry, 5, 4 + ladder.order) .. player)
end

-- Entries before the tie group of the one at an offset: usually the one before is not in it.
local function tied_before(ladder, prefix, offset, previous)
  if not previous or sub(previous, 1, ladder.tied) ~= prefix then return offset end
  units = units - 24
  return call('ZRANK', ladder.key, call('ZRANGEBYLEX', ladder.key, '[' .. prefix, '+', 'LIMIT', '0', '1')[1])
end

-- Entries before the end of the tie group of the one before an offset.
local function tied_until(ladder, prefix, offset, following)
  if not following or sub(following, 1, ladder.tied) ~= prefix then return offset end
  units = units - 24
  local after = after_prefix(prefix)
  local other = after ~= '+' and call('ZRANGEBYLEX', ladder.key, after, '+', 'LIMIT', '0', '1')[1]
  return other and call('ZRANK', ladder.key, other) or total_of(ladder)
end

local function distinct_in_set(ladder, prefix)
  units = units - 24
  return call('ZLEXCOUNT', base .. 'd:' .. ladder.name, '-', '(' .. prefix)
end

local function begin_scan(ladder)
  return begin_sweep('-', 0, ladder.most, budget / 2)
end

local function place_of(ladder, player)
  local entry, card = entry_of(ladder, player)
  local offset = offset_of(ladder, entry, player)
  if not offset then return false end
  units = units - 15
  local first = math.max(0, offset - 1)
  local near = call('ZRANGE', ladder.key, first, offset + 1)
  local own = offset - first + 1
  local prefix = sub(entry, 5, 4 + ladder.tied)
  local distinct = ladder.how == '' and 0 or ladder.how == 'set' and distinct_in_set(ladder, prefix) or -1
  return {
    offset, tied_before(ladder, prefix, offset, near[own - 1]), distinct,
    tied_until(ladder, prefix, offset + 1, near[own + 1]), record_of(ladder, entry, card),
  }
end

local kinds = {}

function kinds.places(ladder, from, till)
  local answer, found = { total_of(ladder), '-', 0 }, {}
  for n = from + 1, till do
    if n > from + 1 and bytes <= 0 then return answer end
    local place = place_of(ladder, ARGV[n])
    answer[#answer + 1] = place
    if place then found[#found + 1] = place end
  end
  if ladder.how ~= 'scan' or ARGV[from] ~= '1' then return answer end
  local sweep = begin_scan(ladder)
  table.sort(found, function(one, other) return one[1] < other[1] end)
  for _, place in ipairs(found) do
    if not sweep_to(sweep, ladder.key, sub(place[5], 1, ladder.tied)) then break end
    place[3] = sweep.count
  end
  units = units - (budget / 2 - sweep.units)
  answer[2], answer[3] = sweep.from, sweep.count
  return answer
end

function kinds.records(ladder, from, till)
  local answer = {}
  for n = from, till do
    if n > from and bytes <= 0 then break end
    local entry, card = entry_of(ladder, ARGV[n])
    units = units - 12
    local is_on = entry and call('ZSCORE', ladder.key, sub(entry, 5, 4 + ladder.order) .. ARGV[n])
    answer[#answer + 1] = is_on and record_of(ladder, entry, card) or false
  end
  return answer
end

-- The words of time of members whose keys have none, while there are bytes for their cards; the
-- members beyond are taken out. Answers the first of these, too.
local function read_ats(ladder, members)
  if ladder.order > ladder.tied then return false, nil end
  local ats, beyond = {}, nil
  for n, member in ipairs(members) do
    if n > 1 and bytes <= 0 then
      beyond = member
      break
    end
    local entry = entry_of(ladder, sub(member, ladder.order + 1))
    ats[n] = entry and sub(entry, 5 + ladder.tied, 12 + ladder.tied) or ''
  end
  for n = #members, #ats + 1, -1 do members[n] = nil end
  return ats, beyond
end

-- Where the tie group ends of the last of some members, and their times.
local function end_of(ladder, members, stop, following)
  local count = #members
  local ats, beyond = read_ats(ladder, members)
  local prefix = sub(members[#members], 1, ladder.tied)
  return tied_until(ladder, prefix, stop - count + #members, beyond or following), ats
end

local function slice(ladder, start, stop, full)
  local total = total_of(ladder)
  if full then
    if start < 0 then start, stop = 0, stop - start end
    if stop > total then start, stop = start - (stop - total), total end
  end
  start, stop = math.max(0, math.min(start, total)), math.min(stop, total)
  if stop <= start then return { start, start, total, 0, 0, '-', 0, 0, false, {} } end
  local most = math.min(stop, start + rows_most)
  local members = call('ZRANGE', ladder.key, math.max(0, start - 1), most) -- and one on each side
  units = units - 12 - #members
  local previous = start > 0 and table.remove(members, 1)
  local following = most < total and table.remove(members)
  local prefix = sub(members[1], 1, ladder.tied)
  local before = tied_before(ladder, prefix, start, previous)
  local until_, ats = end_of(ladder, members, most, following)
  local answer = { start, stop, total, before, 0, '-', 0, until_, ats, members }
  if ladder.how == 'set' then
    answer[5] = distinct_in_set(ladder, prefix)
  elseif ladder.how == 'scan' then
    local sweep = begin_scan(ladder)
    answer[5] = sweep_to(sweep, ladder.key, prefix) and sweep.count or -1
    answer[6], answer[7] = sweep.from, sweep.count
    units = units - (budget / 2 - sweep.units)
  end
  return answer
end

function kinds.range(ladder, from)
  return slice(ladder, tonumber(ARGV[from]), tonumber(ARGV[from + 1]), false)
end

function kinds.player(ladder, from)
  local offset = offset_of(ladder, entry_of(ladder, ARGV[from]), ARGV[from])
  if not offset then return false end
  return slice(ladder, offset - tonumber(ARGV[from + 1]), offset + tonumber(ARGV[from + 2]) + 1, true)
end

function kinds.point(ladder, from)
  units = units - 24
  local point = call('ZLEXCOUNT', ladder.key, '-', '(' .. ARGV[from])
  local start, stop = point - tonumber(ARGV[from + 1]), point + tonumber(ARGV[from + 2])
  return slice(ladder, start, stop, ARGV[from + 3] == '1')
end

function kinds.rows(ladder, from)
  local count = tonumber(ARGV[from + 1])
  local members = call('ZRANGEBYLEX', ladder.key, '(' .. ARGV[from], '+', 'LIMIT', '0', count + 1)
  units = units - 24 - #members
  if not members[1] then return { 0, false, members } end
  local following = members[count + 1]
  members[count + 1] = nil
  local stop = call('ZRANK', ladder.key, members[#members]) + 1
  local until_, ats = end_of(ladder, members, stop, following)
  return { until_, ats, members }
end

function kinds.counts(ladder, from, till)
  local answer = { total_of(ladder) }
  for n = from, till do
    units = units - 24
    answer[#answer + 1] = call('ZLEXCOUNT', ladder.key, '-', '(' .. ARGV[n])
  end
  return answer
end

function kinds.version(ladder)
  units = units - 12
  return call('HGET', base .. 'ladders', ladder.name) or '0'
end

local answers = { tonumber(call('GET', base .. 'changes') or '0') }
while at <= #ARGV do
  local ladder, from = ladders[tonumber(ARGV[at + 1])], at + 3
  local least = ladder.how == 'scan' and budget / 2 or 0
  if #answers > 1 and (units <= least or bytes <= 0) then break end
  at = from + tonumber(ARGV[at + 2])
  local is_answered, answer = pcall(kinds[ARGV[from - 3]], ladder, from, at - 1)
  if not is_answered then
    answer = redis.error_reply('FAILED ' .. (type(answer) == 'table' and answer.err or tostring(answer)))
  end
  answers[#answers + 1] = answer
end
return answers
