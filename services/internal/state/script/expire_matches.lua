-- Deletes matches that ended long ago.
-- Full: runs
-- Uses: time
-- KEYS: ended, then match…
-- ARGV: then id…
-- Result: number deleted
local now, count = millis(), 0
for _, match, id in each_match() do
  local expiry = redis.call('ZSCORE', ended, id)
  if expiry and tonumber(expiry) <= now then
    redis.call('ZREM', ended, id)
    redis.call('DEL', match)
    count = count + 1
  end
end
return count
