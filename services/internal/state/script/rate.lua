-- Prelude of scripts that limit rates. rates is a zset of buckets by the time,
-- in microseconds, at which each is full again: a bucket that is not in it is full.

-- take takes one out of a bucket that gains one each interval and holds burst/interval
-- of them, all in microseconds. It returns 0, or in how many microseconds to come again.
local function take(rates, bucket, now, interval, burst)
  if interval == 0 then
    return 0
  end
  local full = math.max(now, tonumber(redis.call('ZSCORE', rates, bucket) or 0)) + interval
  if full - now > burst then
    return full - now - burst
  end
  redis.call('ZADD', rates, full, bucket)
  return 0
end
