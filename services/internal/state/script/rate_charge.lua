-- Charges a bucket for what was used already, also beyond what it holds.
-- Full: runs
-- Uses: time, rate
-- KEYS: rates
-- ARGV: bucket, amount (the time to gain what was used, 0 = only look) (in microseconds)
-- Result: how many microseconds until the bucket is full
local now = micros()
amount = tonumber(amount)
local full = math.max(now, tonumber(redis.call('HGET', rates, bucket) or 0)) + amount
if amount > 0 then
  redis.call('HSET', rates, bucket, to_text(full))
end
return full - now
