-- Writes or deletes a function, if it is still what the caller read.
-- KEYS: functions
-- ARGV: name, read (the body that the caller read, '' = none), body ('' = delete), limit (of functions)
-- Result: 'ok', 'changed' (read again) or 'full'
local current = redis.call('HGET', functions, name) or ''
if current ~= read then
  return 'changed'
end
if body == '' then
  redis.call('HDEL', functions, name)
  return 'ok'
end
if current == '' and redis.call('HLEN', functions) >= tonumber(limit) then
  return 'full'
end
redis.call('HSET', functions, name, body)
return 'ok'
