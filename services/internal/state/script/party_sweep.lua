-- Finds parties that may have members that were silent for too long. No member is silent because the service was away:
-- after a gap, all members have their whole time again. The same holds after another Redis took over, which may lack
-- their requests.
-- Full: runs
-- Uses: time, primary
-- KEYS: parties, party_sweeps
-- ARGV: silence, gap (both in milliseconds), count (of parties)
-- Result: number of parties, then the ids of parties to look at
local now = millis()
local swept, patience, swept_by = unpack(redis.call('HMGET', party_sweeps, SWEPT, PATIENCE, SWEPT_BY))
swept, patience = tonumber(swept), tonumber(patience or 0)
local is_here = primary()
if not swept or now - swept > tonumber(gap) or swept > now or swept_by ~= is_here then
  patience = now + silence
  redis.call('HSET', party_sweeps, PATIENCE, patience, SWEPT_BY, is_here)
end
redis.call('HSET', party_sweeps, SWEPT, now)
local number = redis.call('ZCARD', parties)
if number == 0 then
  redis.call('DEL', party_sweeps)
  return {0}
end
if now < patience and patience <= now + silence then
  return {number}
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', parties, '(' .. now + silence, '+inf', 'LIMIT', 0, count)) do
  redis.call('ZADD', parties, now, id) -- another clock said when, before a failover
end
return {number, unpack(redis.call('ZRANGEBYSCORE', parties, '-inf', now, 'LIMIT', 0, count))}
