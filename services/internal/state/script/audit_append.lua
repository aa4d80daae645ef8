-- Notes a change that goes with no other change of the state, unless the newest one of its like is the same.
-- Full: runs
-- Uses: audit
-- KEYS: audit
-- ARGV: change, since (in Unix milliseconds), alike (what it and those of its like begin with), searched (how many)
-- Result: 1, or 0 if it is noted
for _, entry in ipairs(redis.call('XREVRANGE', audit, '+', since, 'COUNT', searched)) do
  if entry[2][2] == change then return 0 end
  if string.sub(entry[2][2], 1, #alike) == alike then break end
end
append_audit(change, '')
return 1
