-- Replaces the settings of a project. From then on tickets that were decided by other settings are not created
-- (ticket_create.lua). The revision is the time, so that one that Redis lost does not come again with other settings.
-- Full: runs
-- Uses: time, audit
-- KEYS: settings, webhooks
-- ARGV: body, expected (revision: '' = any, '0' = none yet), may_create (0 = Redis is short of memory),
--       names (of webhooks, each with a space before and one behind all), audited (the change, encoded)
-- Result: 'ok', revision and time; or alone 'changed' when the revision is not the expected one, 'short' when there are
--         none and none may be created
local current = redis.call('HGET', settings, REVISION) or '0'
if expected ~= '' and expected ~= current then
  return 'changed'
end
if current == '0' and may_create == '0' then
  return 'short'
end
local now = millis()
local next_revision = math.max(now, tonumber(current) + 1)
local entry = string.format('%.0f %.0f ', next_revision, now) .. body
local changes = redis.call('HINCRBY', settings, CHANGES, 1)
redis.call('HSET', settings, REVISION, string.format('%.0f', next_revision), BODY, entry, changes % SETTINGS, entry)
for _, field in ipairs(redis.call('HKEYS', webhooks)) do
  local name = string.match(field, '^%l:([^:]+)')
  if name and not string.find(names, ' ' .. name .. ' ', 1, true) then
    redis.call('HDEL', webhooks, field)
  end
end
if names == ' ' then
  redis.call('DEL', webhooks)
end
for name in string.gmatch(names, '%S+') do
  redis.call('HSETNX', webhooks, PLACE .. name, string.format('@%.0f', now))
end
append_audit(audited, string.format('%.0f', next_revision))
return {'ok', next_revision, now}
