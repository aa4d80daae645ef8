-- Takes, renews or gives up the lease of a project. The epoch grows whenever another owner takes the lease.
-- Full: runs
-- Uses: time
-- KEYS: lease
-- ARGV: owner, duration (in milliseconds, 0 = give it up), seizes ('1' = from any owner, which notices when it renews)
-- Result: epoch when the owner has the lease now, else 0
local current, epoch, expires = unpack(redis.call('HMGET', lease, 'owner', 'epoch', 'expires'))
local mine = current == owner
epoch = tonumber(epoch or 0)
if duration == '0' then
  if mine then
    redis.call('HSET', lease, 'expires', 0)
  end
  return 0
end
local now = millis()
if not mine then
  if seizes ~= '1' and not has_ended(tonumber(expires or 0), now, tonumber(duration)) then
    return 0
  end
  epoch = math.max(now, epoch + 1) -- as settings_put.lua says of a revision
end
-- mistake epoch: duration = 1
redis.call('HSET', lease, 'owner', owner, 'epoch', epoch, 'expires', now + duration)
return epoch
