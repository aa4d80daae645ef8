-- Notes a change that goes with no other change of the state. The same one by the same author counts once an hour,
-- so that many of them leave room for others.
-- Full: runs
-- Uses: time, audit
-- KEYS: audit
-- ARGV: change
-- Result: 1, or 0 if it is noted
local since = string.format('%.0f', millis() - 3600000)
for _, entry in ipairs(redis.call('XREVRANGE', audit, '+', since, 'COUNT', 32)) do
  if entry[2][2] == change then
    return 0
  end
end
append_audit(change, '')
return 1
