-- Claims the deallocation of a match's server for one caller. It is due again after a while that grows with every try.
-- Full: runs
-- Uses: time
-- KEYS: deallocations, match
-- ARGV: match_id, first_delay, max_delay, patience (for how long it is tried) (all in milliseconds)
-- Result: body of the match, or '' when its deallocation is not due; the connection of the server that its tickets use
--         ('' = none): only the match's other servers are to be deallocated; 1 when this is the last try, else 0; and
--         when it is due again
local now, due = millis(), redis.call('ZSCORE', deallocations, match_id)
-- mistake leak: due = nil
if not due or tonumber(due) > now then
  return {'', '', 0, 0}
end
local body, used, first = unpack(redis.call('HMGET', match, BODY, USED, FIRST_TRY))
if not body then
  redis.call('ZREM', deallocations, match_id)
  return {'', '', 0, 0}
end
local tries = redis.call('HINCRBY', match, TRIES, 1)
redis.call('HSETNX', match, FIRST_TRY, now)
due = now + math.min(first_delay * 2 ^ math.min(tries - 1, 30), max_delay)
redis.call('ZADD', deallocations, due, match_id)
return {body, used or '', tonumber(first or now) + with_slack(tonumber(patience)) <= now and 1 or 0, due}
