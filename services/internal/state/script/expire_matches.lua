-- Deletes matches that ended long ago.
-- KEYS: ended, then match…
-- ARGV: latest (time to delete), then id…
-- Result: number deleted
local count = 0
for _, match, id in each_match() do
  local expiry = redis.call('ZSCORE', ended, id)
  if expiry and tonumber(expiry) <= tonumber(latest) then
    redis.call('ZREM', ended, id)
    redis.call('DEL', match)
    count = count + 1
  end
end
return count
