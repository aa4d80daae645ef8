-- Says that a director lives, and for how long it is to be believed; forgets those of whom nothing was heard since.
-- KEYS: directors
-- ARGV: name, now, milliseconds until the next word at the latest (0 = it ends), how many projects it leads
-- Result: name, number of projects, … of every director that lives
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], (ARGV[2] + ARGV[3]) .. ' ' .. ARGV[4])
end
local all, living = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  local expires, leads = string.match(all[i + 1], '^(%d+) (%d+)$')
  if tonumber(expires) > tonumber(ARGV[2]) then
    living[#living + 1] = all[i]
    living[#living + 1] = tonumber(leads)
  else
    redis.call('HDEL', KEYS[1], all[i])
  end
end
return living
