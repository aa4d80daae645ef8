-- Notes a change that goes with no other change of the state. The same one by the same author counts once since a time,
-- so that many of them leave room for others.
-- Full: runs
-- Uses: audit
-- KEYS: audit
-- ARGV: change, since (in Unix milliseconds)
-- Result: 1, or 0 if it is noted
for _, entry in ipairs(redis.call('XREVRANGE', audit, '+', since)) do
  if entry[2][2] == change then
    return 0
  end
end
append_audit(change, '')
return 1
