-- Notes that hosting has no server for a match now: no other match of its target is claimed, but for one at a time. A
-- refusal that comes late changes nothing: its match has ended, or does not ask for a server.
-- Full: runs
-- Uses: time, change, credit, credit_end
-- KEYS: match
-- ARGV: event, told_every (in milliseconds: the event is told no more often)
-- Result: 1 when the event was told, else 0
local name = counted_to(redis.call('HGET', match, STATE), redis.call('HGET', match, COUNTED))
if name ~= '' and close_target(name, millis(), tonumber(told_every)) then
  append_history({event, ''}, 0)
  return 1
end
return 0
