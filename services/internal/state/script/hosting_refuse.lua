-- Notes that hosting has no server for a match now: no other match of its target is claimed, but for one at a time.
-- Full: runs
-- Uses: time, change, credit
-- KEYS: match
-- ARGV: target, event, told_every (in milliseconds: the event is told no more often)
-- Result: 1 when the event was told, else 0
if redis.call('EXISTS', match) == 1 and close_target(target, millis(), tonumber(told_every)) then
  append_history({event, ''}, 0)
  return 1
end
return 0
