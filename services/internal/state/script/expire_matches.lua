-- Deletes matches that ended long ago. One whose server is still to be deallocated is kept until after the next try. A
-- server that renewed its token does so no more: its players do not play the match any more.
-- Full: runs
-- Uses: time, result
-- KEYS: ended, deallocations, then match…, then result…
-- ARGV: then id…
-- Result: number deleted
local now, count, all = millis(), 0, #ARGV - first_arg + 1
for n = 0, all - 1 do
  local match, id = KEYS[first_key + n], ARGV[first_arg + n]
  local expiry, due = redis.call('ZSCORE', ended, id), redis.call('ZSCORE', deallocations, id)
  if due then
    redis.call('ZADD', ended, math.max(now, tonumber(due)) + 1, id)
  elseif expiry and tonumber(expiry) <= now then
    if redis.call('HEXISTS', match, SERVER) == 1 then
      end_running(redis.call('HGET', KEYS[first_key + all + n], PLAYERS), id)
    end
    redis.call('ZREM', ended, id)
    redis.call('DEL', match)
    count = count + 1
  end
end
return count
