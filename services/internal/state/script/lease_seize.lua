-- Takes the lease of a project from any director that has it, or extends it. The old director notices when it renews.
-- Full: runs
-- Uses: time
-- KEYS: lease
-- ARGV: owner, duration (in milliseconds)
-- Result: epoch
local current, epoch = unpack(redis.call('HMGET', lease, 'owner', 'epoch'))
epoch = tonumber(epoch or 0)
if current ~= owner then
  epoch = epoch + 1
end
redis.call('HSET', lease, 'owner', owner, 'epoch', epoch, 'expires', millis() + duration)
return epoch
