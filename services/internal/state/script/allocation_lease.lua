-- Renews or ends the lease of a match.
-- Full: runs
-- Uses: time
-- KEYS: match
-- ARGV: holder, duration (in milliseconds from now on, 0 = end it)
-- Result: 1 when the holder has the lease and the allocation is under way, else 0
local state, current = unpack(redis.call('HMGET', match, STATE, HOLDER))
if state ~= ALLOCATING or current ~= holder then
  return 0
end
if duration == '0' then
  redis.call('HDEL', match, HOLDER)
end
redis.call('HSET', match, LEASE_EXPIRES, millis() + duration)
return 1
