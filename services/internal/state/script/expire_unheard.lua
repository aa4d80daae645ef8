-- Ends tickets that wait and had no request in a long while: their players are gone.
-- Full: runs
-- Uses: time, primary, change, large, listed, ended, expiry
-- KEYS: waiting, resolved, last_seen, idle_sweeps, then ticket…
-- ARGV: silence (for how many milliseconds there was no request), gap (after how many milliseconds without a call of
--       this script requests may have been lost), kept (for how many milliseconds requests are known, at most),
--       told_time (for how many milliseconds the reason is), reason, event, then id…
-- Result: of how many tickets requests are known, of how many they are not any more, number ended, feed position (0
--         when none ended), then the ids of tickets whose end is told
--
-- No ticket is silent because the service was away. All have their whole time again after a gap, after a jump of the
-- clock, and after another Redis took over, which may lack requests. The same holds when many seem to be silent and
-- there are no requests at all: the way to the service may be broken.
local now = millis()
silence, gap = tonumber(silence), tonumber(gap)
local swept, patience, swept_by = unpack(redis.call('HMGET', idle_sweeps, SWEPT, PATIENCE, SWEPT_BY))
swept, patience = tonumber(swept), tonumber(patience or 0)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', last_seen, '(' .. now, '+inf', 'LIMIT', 0, 256)) do
  redis.call('ZADD', last_seen, now, id) -- another clock said when, before a failover
end
local silent, forgotten = {}, 0
for n = 0, #KEYS - first_key do
  local ticket, id = KEYS[first_key + n], ARGV[first_arg + n]
  local sign = tonumber(redis.call('ZSCORE', last_seen, id))
  if sign and sign <= now - silence then
    local state = redis.call('HGET', ticket, STATE)
    if state == WAITING then
      silent[#silent + 1] = {ticket, id}
    elseif state == CLAIMED then
      redis.call('ZADD', last_seen, now, id) -- it is looked at again: it may wait again
    else
      forgotten = forgotten + redis.call('ZREM', last_seen, id)
    end
  end
end
local number = redis.call('ZCARD', last_seen)
if number == 0 then
  redis.call('DEL', idle_sweeps)
  return {0, forgotten, 0, 0}
end
local newest = tonumber(redis.call('ZREVRANGE', last_seen, 0, 0, 'WITHSCORES')[2])
local is_here = primary()
local nobody_listened = not swept or now - swept > gap or swept > now or swept_by ~= is_here
local nobody_is_heard = #silent >= MANY_SILENT and newest < now - silence / 2
if nobody_listened or nobody_is_heard then
  patience = now + silence
  redis.call('HSET', idle_sweeps, PATIENCE, patience, SWEPT_BY, is_here)
end
redis.call('HSET', idle_sweeps, SWEPT, now)
redis.call('PEXPIRE', idle_sweeps, kept)
-- mistake impatient: patience = 0
if #silent == 0 or now < patience and patience <= now + silence then
  return {number, forgotten, 0, 0}
end
for _, one in ipairs(silent) do
  redis.call('ZREM', waiting, one[2])
  redis.call('ZREM', last_seen, one[2])
end
return {number - #silent, forgotten, end_waiting(silent, reason, event, now)}
