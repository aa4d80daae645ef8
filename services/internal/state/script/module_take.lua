-- Takes modules that have been unused for long enough, and again those that were taken: no function can name them now.
-- Full: runs
-- Uses: time
-- KEYS: unused
-- ARGV: grace (in milliseconds), then module
-- Result: the modules that were taken
local latest, taken = millis() - with_slack(tonumber(grace)), {}
for n = first_arg, #ARGV do
  local since = redis.call('ZSCORE', unused, ARGV[n])
  if since and tonumber(since) <= latest then
    redis.call('ZADD', unused, TAKEN, ARGV[n])
    taken[#taken + 1] = ARGV[n]
  end
end
return taken
