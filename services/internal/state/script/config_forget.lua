-- Deletes changes of configs that have not applied for some time, and changes that a version without a history replaced
-- without noting it.
-- Full: runs
-- Uses: time, configs
-- KEYS: revisions
-- ARGV: age (how long they are kept, in milliseconds), batch (how many of them are looked at)
-- Result: how many were forgotten
local latest = string.format('%.0f', millis() - with_slack(tonumber(age)))
local old = ended_changes(latest, batch)
for _, member in ipairs(old) do
  forget_change(member)
end
local forgotten = #old
for _, member in ipairs(current_changes()) do
  local number, config = string.match(member, '^(%d+) %d+ (.*)$')
  if redis.call('HGET', revisions, config) ~= number then
    forget_change(member)
    forgotten = forgotten + 1
  end
end
return forgotten
