-- Takes a number out of a bucket, or none of it. With a number of 0 it only looks whether there is one.
-- Full: runs
-- Uses: time, rate
-- KEYS: rates
-- ARGV: bucket, interval, burst (in microseconds), number
-- Result: 0, or how many microseconds to wait
interval, burst, number = tonumber(interval), tonumber(burst), tonumber(number)
local now = micros()
local full = math.max(now, bounded(tonumber(redis.call('HGET', rates, bucket) or 0), now, interval, burst))
local wait = wait_for(full + math.max(0, number - 1) * interval, now, interval, burst)
if wait == 0 and number > 0 then
  redis.call('HSET', rates, bucket, to_text(full + number * interval))
end
return wait
