-- Takes a player out of the lineup and the result of a match.
-- Full: runs
-- KEYS: result, running
-- ARGV: match_id, player, read, version (the lineup and the version that the caller read), lineup, body (of the
--       result, '' = none)
-- Result: 1, or 0 when the match is not what the caller read
local is = redis.call('HMGET', result, PLAYERS, VERSION)
if is[1] ~= read or (is[2] or '0') ~= version then
  return 0
end
redis.call('HSET', result, PLAYERS, lineup)
redis.call('HINCRBY', result, VERSION, 1) -- a result that is computed meanwhile must not bring the player back
if body ~= '' then
  redis.call('HSET', result, BODY, body)
end
if redis.call('HGET', running, player) == match_id then
  redis.call('HDEL', running, player)
end
return 1
