-- Writes the ratings and the standing of a player, if they are what the caller read.
-- Full: refused
-- Uses: time
-- KEYS: ratings, rated
-- ARGV: player, read ('' = none), body, rated_limit (how many players may have some)
-- Result: 1; 0 when they are not; -1 when too many players have some
if (redis.call('HGET', ratings, player) or '') ~= read then
  return 0
end
if read == '' and redis.call('ZCARD', rated) >= tonumber(rated_limit) then
  return -1
end
redis.call('HSET', ratings, player, body)
redis.call('ZADD', rated, millis(), player)
return 1
