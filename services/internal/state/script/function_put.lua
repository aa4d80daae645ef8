-- Writes or deletes a function, if it is still what the caller read, notes which modules became unused, and appends an
-- event to the history. A function can name a module only while it is noted: from before it was stored until the sweep
-- takes it.
-- Full: runs
-- Uses: time, change, audit
-- KEYS: functions, unused
-- ARGV: name, read (the body that the caller read, '' = none), body ('' = delete), limit (of functions),
--       may_create (0 = Redis is short of memory), event ('' = none), audited (the change, encoded),
--       added (how many of the modules the function names from now on; it no longer names the others), then module
-- Result: 'ok', 'changed' (read again), 'full', 'short' (of memory) or 'gone' (a module is not noted)
local current = redis.call('HGET', functions, name) or ''
if current ~= read then
  return 'changed'
end
if body ~= '' and current == '' and may_create == '0' then
  return 'short'
end
if body ~= '' and current == '' and redis.call('HLEN', functions) >= tonumber(limit) then
  return 'full'
end
local first_dropped = first_arg + added
for n = first_arg, first_dropped - 1 do
  if tonumber(redis.call('ZSCORE', unused, ARGV[n]) or TAKEN) == TAKEN then
    return 'gone'
  end
end
if body == '' then
  redis.call('HDEL', functions, name)
else
  redis.call('HSET', functions, name, body)
end
for n = first_arg, #ARGV do
  if n < first_dropped then
    redis.call('ZREM', unused, ARGV[n])
  else
    redis.call('ZADD', unused, millis(), ARGV[n])
  end
end
if event ~= '' then
  append_history({event, ''}, 0)
  append_audit(audited, '')
end
return 'ok'
