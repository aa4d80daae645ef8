-- Ends tickets that have waited for too long.
-- Full: runs
-- Uses: time, change, large, listed, ended, expiry
-- KEYS: waiting, resolved, then ticket…
-- ARGV: patience (for how many milliseconds a ticket may wait), told_time (for how many milliseconds the reason is),
--       reason, event, then id…
-- Result: number ended, feed position (0 when none ended), then the ids of tickets whose end is told
local now = millis()
local latest, abandoned = now - with_slack(tonumber(patience)), {}
for n = 0, #KEYS - first_key do
  local ticket, id = KEYS[first_key + n], ARGV[first_arg + n]
  local created = redis.call('ZSCORE', waiting, id)
  if created and tonumber(created) <= latest then
    redis.call('ZREM', waiting, id)
    abandoned[#abandoned + 1] = {ticket, id}
  end
end
return {end_waiting(abandoned, reason, event, now)}
