#!lua
-- Counts submissions of callers by the generic cell rate algorithm (toprung.domain.trust.rates).
-- KEYS[1] ends with "epoch" like that of a shard, but has no shard; <base>a:<caller> is the caller's
-- theoretical arrival time in microseconds, which is gone soon after it has passed.
-- ARGV: now, the interval of the rate and its burst, all in microseconds; then of each caller its name
-- and how many it sends. Answers of each how many pass, its arrival time, and when another one may pass.
local now, interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local answer = {}
for at = 4, #ARGV, 2 do
  local key, count = base .. 'a:' .. ARGV[at], tonumber(ARGV[at + 1])
  local begin = math.max(tonumber(call('GET', key) or '0'), now)
  local room = math.floor((burst - (begin - now)) / interval)
  local passed = math.max(0, math.min(count, room))
  local after, retry = begin + passed * interval, 0
  if passed < count then retry = after + interval - now - burst end
  if passed > 0 then
    local text = string.format('%.0f', after)
    call('SET', key, text, 'PX', string.format('%.0f', math.ceil((after - now) / 1000) + 1000))
  end
  answer[#answer + 1] = passed
  answer[#answer + 1] = string.format('%.0f', after)
  answer[#answer + 1] = string.format('%.0f', retry)
end
return answer
