-- Takes, renews or gives up the lease of a project. The epoch grows whenever it passes to another owner.
-- KEYS: lease
-- ARGV: owner, now, milliseconds to hold it (0 = give it up)
-- Result: epoch when owner holds it now, else 0
local lease = redis.call('HMGET', KEYS[1], 'owner', 'epoch', 'expires')
local mine = lease[1] == ARGV[1]
local epoch = tonumber(lease[2] or 0)
if ARGV[3] == '0' then
  if mine then
    redis.call('HSET', KEYS[1], 'expires', 0)
  end
  return 0
end
if not mine then
  if tonumber(lease[3] or 0) > tonumber(ARGV[2]) then
    return 0
  end
  epoch = epoch + 1
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'epoch', epoch, 'expires', ARGV[2] + ARGV[3])
return epoch
