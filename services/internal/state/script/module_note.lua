-- Notes that a module will be stored, which no function names yet.
-- Full: runs
-- Uses: time
-- KEYS: unused
-- ARGV: module
-- Result: 1
redis.call('ZADD', unused, millis(), module)
return 1
