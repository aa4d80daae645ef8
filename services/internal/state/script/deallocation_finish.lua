-- Notes that the server of a match was deallocated, if it had one, or that it is not tried again. When another holder
-- may still have been asking for a server, a deallocation is repeated later. A caller that took longer than its turn
-- ends nothing: the match may have another server by now, and the next one repeats it.
-- Full: runs
-- Uses: time, change
-- KEYS: deallocations, ended, match
-- ARGV: match_id, claimed (when it was due again), memory (for how long to keep what is left of the match), pause
--       (until a repetition) (both in milliseconds), given_up ('1' = it failed and is not tried any more), event
-- Result: 1, or 0 when it is not the caller's turn any more
if tonumber(redis.call('ZSCORE', deallocations, match_id) or 0) ~= tonumber(claimed) then
  return 0
end
local now, used = millis(), redis.call('HEXISTS', match, USED) == 1
if given_up == '1' or not used and redis.call('HSETNX', match, ANNOUNCED, 1) == 1 then
  append_history({event, ''}, 0)
end
if redis.call('HDEL', match, CONFIRM) == 1 and given_up ~= '1' then
  redis.call('HDEL', match, TRIES, FIRST_TRY)
  redis.call('ZADD', deallocations, now + pause, match_id)
  return 1
end
redis.call('ZREM', deallocations, match_id)
redis.call('HDEL', match, BODY, TRIES, FIRST_TRY, ANNOUNCED)
if not used then -- otherwise it is kept for as long as its results and its server
  redis.call('ZADD', ended, now + memory, match_id)
end
return 1
