-- Deletes changes of configs that have not applied for some time, and what the audit has no more.
-- Full: runs
-- Uses: time, configs, audit
-- KEYS: config_changes, config_history
-- ARGV: age (how long they are kept, in milliseconds), batch (how many of them are looked at)
-- Result: how many were forgotten
forget_audit(millis())
local latest = string.format('%.0f', millis() - with_slack(tonumber(age)))
local old = redis.call('ZRANGEBYSCORE', config_changes, '-inf', latest, 'LIMIT', 0, batch)
for _, member in ipairs(old) do
  forget_change(member)
end
return #old
