-- Notes that the server of a match was deallocated, if it had one. When another holder may still have been asking for a
-- server, the deallocation is repeated later.
-- Uses: change
-- KEYS: deallocations, ended, match
-- ARGV: match_id, expiry (of what is left of the match), repeat_at, event
-- Result: 1, or 0 when no deallocation of the match is under way
if not redis.call('ZSCORE', deallocations, match_id) then
  return 0
end
if redis.call('HSETNX', match, ANNOUNCED, 1) == 1 then
  append_history({event, ''}, 0)
end
if redis.call('HDEL', match, CONFIRM) == 1 then
  redis.call('HDEL', match, TRIES)
  redis.call('ZADD', deallocations, repeat_at, match_id)
  return 1
end
redis.call('ZREM', deallocations, match_id)
redis.call('HDEL', match, BODY, TRIES, ANNOUNCED)
redis.call('ZADD', ended, expiry, match_id)
return 1
