-- Forgets the ratings of players that have not played for long.
-- Full: runs
-- Uses: time
-- KEYS: ratings, rated, steps, then board… (all leaderboards)
-- ARGV: age (in milliseconds), limit (how many at a time)
-- Result: how many
local players = redis.call('ZRANGEBYSCORE', rated, '-inf', millis() - age, 'LIMIT', 0, limit)
if #players > 0 then
  redis.call('HDEL', ratings, unpack(players))
  redis.call('HDEL', steps, unpack(players))
  redis.call('ZREM', rated, unpack(players))
  for n = first_key, #KEYS do
    redis.call('ZREM', KEYS[n], unpack(players))
  end
end
return #players
