-- Lets members of a list be due no later than after its longest time: a Redis whose clock was ahead, before a failover,
-- said when. A match that is being allocated has the time of its allocator.
-- Full: runs
-- Uses: time
-- KEYS: then list, match… (of each member, of claims)
-- ARGV: longest (in milliseconds), then member…
-- Result: how many
local latest, count = millis() + longest, 0
for n = 0, #ARGV - first_arg do
  local match = KEYS[first_key + 1 + n]
  if not match or redis.call('HGET', match, STATE) ~= ALLOCATING then
    count = count + redis.call('ZADD', KEYS[first_key], 'XX', 'LT', 'CH', latest, ARGV[first_arg + n])
  end
end
return count
