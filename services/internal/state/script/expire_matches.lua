-- Deletes matches that ended long ago.
-- Full: runs
-- Uses: time
-- KEYS: ended, then match…
-- ARGV: then id…
-- Result: number deleted
local now, count = millis(), 0
for n = 0, #KEYS - first_key do
  local match, id = KEYS[first_key + n], ARGV[first_arg + n]
  local expiry = redis.call('ZSCORE', ended, id)
  if expiry and tonumber(expiry) <= now then
    redis.call('ZREM', ended, id)
    redis.call('DEL', match)
    count = count + 1
  end
end
return count
