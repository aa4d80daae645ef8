-- Returns a party's members that were silent for too long, and notes when to look again.
-- Full: runs
-- Uses: time
-- KEYS: party, parties
-- ARGV: id, silence, again (after how many milliseconds to look again when some were silent)
-- Result: the players that were silent
local now, names, silent = millis(), {}, {}
local next_look = now + silence
for _, field in ipairs(redis.call('HKEYS', party)) do
  if string.sub(field, 1, #HEARD) == HEARD then
    names[#names + 1] = field
  end
end
if #names == 0 then
  redis.call('ZREM', parties, id)
  return silent
end
for i, heard in ipairs(redis.call('HMGET', party, unpack(names))) do
  local ends = math.min(tonumber(heard) or 0, now) + silence
  if ends == now + silence then
    redis.call('HSET', party, names[i], now) -- another clock may have said when, before a failover
  end
  if ends <= now then
    silent[#silent + 1] = string.sub(names[i], #HEARD + 1)
    ends = now + again
  end
  next_look = math.min(next_look, ends)
end
redis.call('ZADD', parties, next_look, id)
return silent
