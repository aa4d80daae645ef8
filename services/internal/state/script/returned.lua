-- Notes that the server of a match was given back, if it had one. When the match was taken from a holder that may have been
-- asking for the server still, it is given back once more later.
-- KEYS: seq, feed, told, history, returns, ended, match
-- ARGV: feed and history kept, match id, expiry of what is left of the match, when to give it back once more, event
-- Result: 1, or 0 when the match is not among the returns
if not redis.call('ZSCORE', KEYS[5], ARGV[3]) then
  return 0
end
if redis.call('HSETNX', KEYS[7], 'y', 1) == 1 then
  tell({ARGV[6], ''}, 0)
end
if redis.call('HDEL', KEYS[7], 'z') == 1 then
  redis.call('HDEL', KEYS[7], 'n')
  redis.call('ZADD', KEYS[5], ARGV[5], ARGV[3])
  return 1
end
redis.call('ZREM', KEYS[5], ARGV[3])
redis.call('HDEL', KEYS[7], 'b', 'n', 'y')
redis.call('ZADD', KEYS[6], ARGV[4], ARGV[3])
return 1
