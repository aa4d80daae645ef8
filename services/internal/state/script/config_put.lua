-- Creates or replaces a config. Ids that differ only in letter case or in Unicode normal form are one name, as on most
-- file systems. The first one has it.
--
-- All configs of a project together have limits. What each one counts is beside the names: ':<id>' has its revision,
-- filters, segments and bytes.
--
-- The old version is kept, see include/configs.lua, unless Redis is short of memory.
-- Full: runs
-- Uses: time, change, queue, configs, audit
-- KEYS: configs, revisions, revision, config_names, queues, unserved
-- ARGV: id, name (the id in lower case and normal form), body, expected (revision: '' = any, '0' = none yet),
--       may_create (0 = Redis is short of memory), filters, segments (of the config), max_configs, max_filters,
--       max_segments, max_bytes (of all; 0 = no limit), queue ('' = none), unserved_event, mode ('check' = change
--       nothing; 'reseal' = it is the same config with its keys encrypted anew, which is no change; '' otherwise),
--       audited (the change, encoded)
-- Result: {new revision, 1 when created}, {0, id} when another spelling exists, {-1, revision} when it is not the
--         expected, {-2, limit, number} when there would be more than a limit allows, {-4, 0} when it may not be
--         created, {-5, 1 when it would be created} when it was checked
local current = redis.call('HGET', revisions, id) or '0'
local holder = redis.call('HGET', config_names, name)
if holder and holder ~= id then
  return {0, holder}
end
if expected ~= '' and expected ~= current then
  return {-1, current}
end
if current == '0' and may_create == '0' then
  return {-4, 0}
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
    return {-2, 'configs', #all + 1}
  end
  for _, limit in ipairs(limits) do
    -- A config that becomes smaller is taken, also where a limit was lowered.
    if limit.max > 0 and limit.number > limit.max and tonumber(limit[2]) > limit.before then
      return {-2, limit[1], limit.number}
    end
  end
end

if mode == 'check' then
  return {-5, current == '0' and 1 or 0}
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
local next_revision, now = redis.call('INCR', revision), millis()
if mode == 'reseal' then
  write_change(id, string.format('%.0f', next_revision), '+inf', take_change(id, current))
else
  if current ~= '0' then
    end_change(id, current, now, may_create ~= '0' and redis.call('HGET', configs, id))
  end
  begin_change(id, next_revision, now)
  bound_changes(id)
  append_audit(audited, string.format('%.0f', next_revision))
end
redis.call('HSET', configs, id, body)
redis.call('HSET', revisions, id, next_revision)
redis.call('HSET', config_names, name, id, ':' .. id,
  string.format('%d %s %s %d', next_revision, filters, segments, #body))
return {next_revision, current == '0' and 1 or 0}
