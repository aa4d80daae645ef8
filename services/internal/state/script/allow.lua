-- Takes one out of a bucket.
-- KEYS: rates
-- ARGV: bucket, now, interval, burst, all times in microseconds
-- Result: 0, or in how many microseconds to come again
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
return take(KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]))
