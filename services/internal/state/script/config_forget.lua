-- Deletes changes of configs that have not applied for some time, and what the audit has no more.
-- Full: runs
-- Uses: time, configs, audit
-- ARGV: age (how long they are kept, in milliseconds), batch (how many of them are looked at)
-- Result: how many were forgotten
forget_audit(millis())
local old = ended_changes(string.format('%.0f', millis() - with_slack(tonumber(age))), batch)
for _, member in ipairs(old) do
  forget_change(member)
end
return #old
