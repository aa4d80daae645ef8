-- Finds parties that may have members who were silent for too long. Nobody is taken for silent because nobody listened:
-- after a gap, all members have their whole time again.
-- Full: runs
-- Uses: time
-- KEYS: parties, party_sweeps
-- ARGV: silence, gap (both in milliseconds), count (of parties)
-- Result: number of parties, then the ids of those to look at
local now = millis()
local swept, patience = unpack(redis.call('HMGET', party_sweeps, SWEPT, PATIENCE))
swept, patience = tonumber(swept), tonumber(patience or 0)
if not swept or now - swept > tonumber(gap) or swept > now then
  patience = now + silence
  redis.call('HSET', party_sweeps, PATIENCE, patience)
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
return {number, unpack(redis.call('ZRANGEBYSCORE', parties, '-inf', now, 'LIMIT', 0, count))}
