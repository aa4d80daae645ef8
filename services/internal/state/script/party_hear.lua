-- Notes that a member of a party was heard of, unless that was noted a moment ago.
-- Full: runs
-- Uses: time
-- KEYS: party
-- ARGV: player, every (for how many milliseconds it is not noted again)
-- Result: 1 when the player is a member, else 0
local last, now = tonumber(redis.call('HGET', party, HEARD .. player)), millis()
if not last then
  return 0
end
if now - last >= tonumber(every) or last > now then
  redis.call('HSET', party, HEARD .. player, now)
end
return 1
