-- Deletes matches that ended long ago. One whose server is still to be deallocated is kept until after the next try.
-- Full: runs
-- Uses: time
-- KEYS: ended, deallocations, then match…
-- ARGV: then id…
-- Result: number deleted
local now, count = millis(), 0
for n = 0, #KEYS - first_key do
  local match, id = KEYS[first_key + n], ARGV[first_arg + n]
  local expiry = redis.call('ZSCORE', ended, id)
  local due = redis.call('ZSCORE', deallocations, id)
  if due then
    redis.call('ZADD', ended, math.max(now, tonumber(due)) + 1, id)
  elseif expiry and tonumber(expiry) <= now then
    redis.call('ZREM', ended, id)
    redis.call('DEL', match)
    count = count + 1
  end
end
return count
