-- Takes, renews or gives up the lease of a project's webhooks, and notes what the owner knows of those that are there.
-- Full: runs
-- Uses: time
-- KEYS: webhooks
-- ARGV: owner, duration (in milliseconds, 0 = give it up), then name, field, value ('' = delete it)
-- Result: 1 when the owner has the lease, or had it until now, else 0
local current, expires = unpack(redis.call('HMGET', webhooks, HOLDER, LEASE_EXPIRES))
local now = millis()
if redis.call('EXISTS', webhooks) == 0 or
    current ~= owner and (duration == '0' or not has_ended(tonumber(expires or 0), now, tonumber(duration))) then
  return 0
end
redis.call('HSET', webhooks, HOLDER, owner, LEASE_EXPIRES, duration == '0' and 0 or now + duration)
for i = first_arg, #ARGV, 3 do
  if ARGV[i + 2] == '' then
    redis.call('HDEL', webhooks, ARGV[i + 1])
  elseif redis.call('HEXISTS', webhooks, PLACE .. ARGV[i]) == 1 then
    redis.call('HSET', webhooks, ARGV[i + 1], ARGV[i + 2])
  end
end
return 1
