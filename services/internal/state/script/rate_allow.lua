-- Takes one out of a bucket.
-- Full: runs
-- Uses: time, rate
-- KEYS: rates
-- ARGV: bucket, interval, burst (in microseconds)
-- Result: 0, or how many microseconds to wait
interval, burst = tonumber(interval), tonumber(burst)
local now = micros()
local full = bounded(tonumber(redis.call('HGET', rates, bucket) or 0), now, interval, burst)
local wait = wait_for(full, now, interval, burst)
if wait == 0 then
  redis.call('HSET', rates, bucket, to_text(math.max(now, full) + interval))
end
return wait
