-- Writes how good the matches of a slot of time were, or how long tickets wait, for the director that holds the lease.
-- Full: refused
-- KEYS: lease, report
-- ARGV: epoch, slot, body, oldest (the first slot that is kept), keep (for how many milliseconds all of it is)
-- Result: 'ok'
-- Error: STALE when the lease has another epoch
if redis.call('HGET', lease, 'epoch') ~= epoch then
  return redis.error_reply('STALE the lease has passed on')
end
if redis.call('HSET', report, slot, body) == 1 then
  for _, other in ipairs(redis.call('HKEYS', report)) do
    if tonumber(other) < tonumber(oldest) then
      redis.call('HDEL', report, other)
    end
  end
end
redis.call('PEXPIRE', report, keep)
return 'ok'
