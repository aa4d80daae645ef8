-- Notes that a director lives and how many projects it leads, and deletes the directors whose heartbeat is overdue.
-- KEYS: directors
-- ARGV: name, now, timeout (milliseconds until the next heartbeat at the latest, 0 = it ends), leads
-- Result: name and number of projects of every director that lives
if timeout == '0' then
  redis.call('HDEL', directors, name)
else
  redis.call('HSET', directors, name, (now + timeout) .. ' ' .. leads)
end
local all, living = redis.call('HGETALL', directors), {}
for i = 1, #all, 2 do
  local director, value = all[i], all[i + 1]
  local expires, projects = string.match(value, '^(%d+) (%d+)$')
  if tonumber(expires) > tonumber(now) then
    living[#living + 1] = director
    living[#living + 1] = tonumber(projects)
  else
    redis.call('HDEL', directors, director)
  end
end
return living
