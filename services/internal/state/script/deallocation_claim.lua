-- Claims the deallocation of a match's server for one caller. It is due again after a while, which grows with every
-- try.
-- Uses: time
-- KEYS: deallocations, match
-- ARGV: match_id, first_delay, max_delay (in milliseconds)
-- Result: body of the match, or '' when its deallocation is not due; and the connection of the server that its tickets
--         use ('' = none): only the match's other servers are to be deallocated
local now, due = millis(), redis.call('ZSCORE', deallocations, match_id)
if not due or tonumber(due) > now then
  return {'', ''}
end
local body, used = unpack(redis.call('HMGET', match, BODY, USED))
if not body then
  redis.call('ZREM', deallocations, match_id)
  return {'', ''}
end
local tries = redis.call('HINCRBY', match, TRIES, 1)
redis.call('ZADD', deallocations, now + math.min(first_delay * 2 ^ math.min(tries - 1, 30), max_delay), match_id)
return {body, used or ''}
