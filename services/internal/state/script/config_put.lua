-- Creates or replaces a config. Ids that differ only in letter case or in Unicode normal form are one name, as on most
-- file systems. The first one has it.
--
-- All configs of a project together have limits. What each one counts is beside the names: ':<id>' has its revision,
-- filters, segments and bytes.
--
-- The old version is kept, see include/configs.lua, unless Redis is short of memory.
-- Full: runs
-- Uses: time, change, queue, configs, audit
-- KEYS: configs, revisions, revision, config_names, config_changes, config_history, queues, unserved
-- ARGV: id, name (the id in lower case and normal form), body, expected (revision: '' = any, '0' = none yet),
--       may_create (0 = Redis is short of memory), filters, segments (of the config), max_configs, max_filters,
--       max_segments, max_bytes (of all; 0 = no limit), queue ('' = none), unserved_event, mode ('check' = change
--       nothing; 'reseal' = it is the same config with its keys encrypted anew, which is no change; '' otherwise),
--       audited (the change, encoded)
-- Result: 'ok', the new revision (0 when it was checked), 1 when it is created, and ''; 'spelled', 0, 0 and the other
--         id when another spelling exists; 'limit', a number, 0 and the limit when there would be more than that
--         allows; or alone 'changed' when its revision is not the expected one, 'short' when it may not be created
local current = redis.call('HGET', revisions, id) or '0'
local holder = redis.call('HGET', config_names, name)
if holder and holder ~= id then
  return {'spelled', 0, 0, holder}
end
if expected ~= '' and expected ~= current then
  return 'changed'
end
if current == '0' and may_create == '0' then
  return 'short'
end

local limits = {{'filters', filters, max_filters}, {'segments', segments, max_segments}, {'bytes', #body, max_bytes}}
local is_limited = tonumber(max_configs) > 0
for _, limit in ipairs(limits) do
  limit.number, limit.before, limit.max = tonumber(limit[2]), 0, tonumber(limit[3])
  is_limited = is_limited or limit.max > 0
end
if is_limited then
  local all = redis.call('HKEYS', revisions)
  for _, other in ipairs(all) do
    local n = 0
    for number in string.gmatch(redis.call('HGET', config_names, ':' .. other), ' (%d+)') do
      n = n + 1
      if other == id then
        limits[n].before = tonumber(number)
      else
        limits[n].number = limits[n].number + tonumber(number)
      end
    end
  end
  if current == '0' and tonumber(max_configs) > 0 and #all >= tonumber(max_configs) then
    return {'limit', #all + 1, 0, 'configs'}
  end
  for _, limit in ipairs(limits) do
    -- A config that becomes smaller is taken, also where a limit was lowered.
    if limit.max > 0 and limit.number > limit.max and tonumber(limit[2]) > limit.before then
      return {'limit', limit.number, 0, limit[1]}
    end
  end
end

if mode == 'check' then
  return {'ok', 0, current == '0' and 1 or 0, ''}
end

local served = redis.call('HGET', queues, SERVES .. id) or ''
if served ~= queue then
  if queue ~= '' then
    redis.call('HSET', queues, SERVES .. id, queue)
    join_queue(queue)
  else
    redis.call('HDEL', queues, SERVES .. id)
  end
  leave_queue(served, unserved_event)
end
local now = millis()
local next_revision = grow(revision, now)
if mode == 'reseal' then
  write_change(id, next_revision, '+inf', take_change(id, current))
else
  if current ~= '0' then
    end_change(id, current, now, may_create ~= '0' and redis.call('HGET', configs, id))
  end
  begin_change(id, next_revision, now)
  bound_changes(id)
  append_audit(audited, next_revision)
end
redis.call('HSET', configs, id, body)
redis.call('HSET', revisions, id, next_revision)
redis.call('HSET', config_names, name, id, ':' .. id,
  string.format('%s %s %s %d', next_revision, filters, segments, #body))
return {'ok', tonumber(next_revision), current == '0' and 1 or 0, ''}
