-- Notes that results of matches did not come in time, and forgets matches some time after their results, or after that.
-- Full: runs
-- Uses: time, change, result
-- KEYS: awaited, then result…
-- ARGV: memory (for how many milliseconds a result may come late), then id, event…
-- Result: how many results are missing
local now, missing = millis(), 0
for n = 0, #KEYS - first_key do
  local key, id, event = KEYS[first_key + n], ARGV[first_arg + 2 * n], ARGV[first_arg + 2 * n + 1]
  local due = redis.call('ZSCORE', awaited, id)
  if due and tonumber(due) <= now then
    local lineup, body, missed = unpack(redis.call('HMGET', key, PLAYERS, BODY, ANNOUNCED))
    end_running(lineup, id)
    if not lineup or body or missed then
      redis.call('DEL', key)
      redis.call('ZREM', awaited, id)
    else
      redis.call('HSET', key, ANNOUNCED, 1)
      redis.call('ZADD', awaited, now + memory, id)
      append_history({event, ''}, 0)
      missing = missing + 1
    end
  end
end
return missing
