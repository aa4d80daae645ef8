-- Notes that a module will be stored, which no function names yet. One that was taken stays taken.
-- Full: runs
-- Uses: time
-- KEYS: unused
-- ARGV: module
-- Result: 1
redis.call('ZADD', unused, 'NX', millis(), module)
return 1
