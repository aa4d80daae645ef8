-- Takes one out of a bucket.
-- Uses: rate
-- KEYS: rates
-- ARGV: bucket, now, interval, burst (all times in microseconds)
-- Result: 0, or how many microseconds to wait
now, interval = tonumber(now), tonumber(interval)
local full = tonumber(redis.call('HGET', rates, bucket) or 0)
local wait = wait_for(full, now, interval, tonumber(burst))
if wait == 0 then
  redis.call('HSET', rates, bucket, to_text(math.max(now, full) + interval))
end
return wait
