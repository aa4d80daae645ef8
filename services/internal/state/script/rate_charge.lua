-- Charges a bucket for what was used already, also beyond what it holds. One that is empty for ten windows more was
-- written by another clock, see rate.lua: it is empty now, and is written anew.
-- Full: runs
-- Uses: time, rate
-- KEYS: rates
-- ARGV: bucket, amount (the time to gain what was used, 0 = only look), window (from empty to full) (in microseconds)
-- Result: how many microseconds until the bucket is full
local now = micros()
amount, window = tonumber(amount), tonumber(window)
local stored = tonumber(redis.call('HGET', rates, bucket) or 0)
local full = math.max(now, bounded(stored, now, 9 * window, 10 * window)) + amount
if amount > 0 or full < stored then
  redis.call('HSET', rates, bucket, to_text(full))
end
return full - now
