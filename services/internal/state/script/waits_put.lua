-- Writes the estimates of how long tickets wait, for the director that holds the lease.
-- Full: refused
-- KEYS: lease, waits
-- ARGV: epoch, body, keep (for how many milliseconds)
-- Result: 'ok'
-- Error: STALE when the lease has another epoch
if redis.call('HGET', lease, 'epoch') ~= epoch then
  return redis.error_reply('STALE the lease has passed on')
end
redis.call('SET', waits, body, 'PX', keep)
return 'ok'
