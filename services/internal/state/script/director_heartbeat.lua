-- Notes that a director lives and how many projects it leads, and deletes the directors whose heartbeat is overdue.
-- Full: runs
-- Uses: time
-- KEYS: directors
-- ARGV: name, timeout (milliseconds until the next heartbeat at the latest, 0 = it ends), leads
-- Result: name and number of projects of every director that lives
local now, longest = millis(), tonumber(timeout)
if longest == 0 then
  longest = math.huge -- it does not say how long the others may take
  redis.call('HDEL', directors, name)
else
  redis.call('HSET', directors, name, (now + longest) .. ' ' .. leads)
end
local all, living = redis.call('HGETALL', directors), {}
for i = 1, #all, 2 do
  local director, value = all[i], all[i + 1]
  local expires, projects = string.match(value, '^(%d+) (%d+)$')
  if not has_ended(tonumber(expires), now, longest) then
    living[#living + 1] = director
    living[#living + 1] = tonumber(projects)
  else
    redis.call('HDEL', directors, director)
  end
end
-- mistake epoch: living = {name, tonumber(leads)}
return living
