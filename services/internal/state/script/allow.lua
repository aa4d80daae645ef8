-- Takes one out of a bucket.
-- KEYS: rates
-- ARGV: bucket, now, interval, burst, all times in microseconds
-- Result: 0, or in how many microseconds to come again
local now, interval = tonumber(ARGV[2]), tonumber(ARGV[3])
local full = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
local wait = after(full, now, interval, tonumber(ARGV[4]))
if wait == 0 then
  redis.call('HSET', KEYS[1], ARGV[1], text(math.max(now, full) + interval))
end
return wait
