-- Deletes outcomes whose results can no longer be read.
-- Full: runs
-- Uses: time, large
-- KEYS: outcomes, then outcome…
-- ARGV: then id…
-- Result: number deleted
local now, gone = millis(), {}
for n = 0, #KEYS - first_key do
  local outcome, id = KEYS[first_key + n], ARGV[first_arg + n]
  local expiry = redis.call('ZSCORE', outcomes, id)
  if expiry and tonumber(expiry) <= now then
    redis.call('ZREM', outcomes, id)
    redis.call('UNLINK', outcome)
    gone[#gone + 1] = OUTCOME .. id
  end
end
release(gone)
return #gone
