-- Writes or deletes a function, if it is still what the caller read.
-- KEYS: functions
-- ARGV: name, the body that the caller read ('' = none), new body ('' = delete), limit of functions
-- Result: 'ok', 'changed' (read again) or 'full'
local current = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if current ~= ARGV[2] then
  return 'changed'
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 'ok'
end
if current == '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then
  return 'full'
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 'ok'
