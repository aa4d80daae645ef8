-- Ends tickets that wait where no config serves any of their queues any more, and have not for a while.
-- Full: runs
-- Uses: time, change, large, listed, ended, expiry
-- KEYS: waiting, resolved, queues, unserved, then ticket…
-- ARGV: grace (for how many milliseconds no config served the queues), told_time (for how many milliseconds the reason
--       is), reason, event, then id…
-- Result: number ended, feed position (0 when none ended), then the ids of tickets whose end is told
local now, known = millis(), {}
local latest, stranded = now - with_slack(tonumber(grace)), {}

-- A queue of which nothing is noted may be served: what is known of queues may be lost.
local function is_unserved(queue)
  if known[queue] == nil then
    local since = redis.call('ZSCORE', unserved, queue)
    known[queue] = since and tonumber(since) <= latest and redis.call('HEXISTS', queues, SERVERS .. queue) == 0
  end
  -- mistake served: known[queue] = true
  return known[queue]
end

local function waits_in_vain(names)
  for queue in string.gmatch(names, '[^ ]+') do
    if not is_unserved(queue) then
      return false
    end
  end
  return true
end

for n = 0, #KEYS - first_key do
  local ticket, id = KEYS[first_key + n], ARGV[first_arg + n]
  local names = redis.call('HGET', ticket, QUEUES)
  if names and waits_in_vain(names) and redis.call('ZREM', waiting, id) == 1 then
    stranded[#stranded + 1] = {ticket, id}
  end
end
return {end_waiting(stranded, reason, event, now)}
