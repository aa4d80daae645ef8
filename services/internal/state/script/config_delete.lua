-- Deletes a config. From then on no match of it is claimed. A request for another spelling of its name deletes nothing.
-- The old version is kept, see include/configs.lua.
-- Full: runs
-- Uses: time, change, queue, configs, audit
-- KEYS: configs, revisions, revision, config_names, config_changes, config_history, queues, unserved
-- ARGV: id, name (see config_put.lua), expected (revision: '' = any), deleted_by, unserved_event, audited
--       (the change, encoded)
-- Result: 'ok', '' when it existed; 'spelled' and the other id when another spelling exists; or alone 'none' when it
--         did not exist, 'changed' when its revision is not the expected one
local current = redis.call('HGET', revisions, id) or '0'
local holder = redis.call('HGET', config_names, name)
if holder and holder ~= id then
  return {'spelled', holder}
end
if expected ~= '' and expected ~= current then
  return 'changed'
end
if current == '0' then
  return 'none'
end
local served = redis.call('HGET', queues, SERVES .. id)
if served then
  redis.call('HDEL', queues, SERVES .. id)
  leave_queue(served, unserved_event)
end
local now = millis()
end_change(id, current, now, redis.call('HGET', configs, id))
write_change(id, grow(revision, now), string.format('%.0f', now),
  string.format('%.0f ', now) .. DELETED .. deleted_by)
bound_changes(id)
append_audit(audited, '')
redis.call('HDEL', revisions, id)
redis.call('HDEL', configs, id)
redis.call('HDEL', config_names, ':' .. id, name)
return {'ok', ''}
