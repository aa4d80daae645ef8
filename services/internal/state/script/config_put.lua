-- Creates or replaces a config. Ids that differ only in letter case or in Unicode normal form are one name, as on most
-- file systems. The first one has it. Configs that shared a name before normal forms counted stay.
--
-- All configs of a project together have limits. What each one counts is beside the names: ':<id>' has its revision,
-- filters, segments and bytes. A config of an older version has none, or another revision's: the caller counts it.
--
-- The old version is kept, see include/configs.lua, unless Redis is short of memory.
-- Full: runs
-- Uses: time, change, queue, configs
-- KEYS: configs, revisions, revision, config_names, queues, unserved
-- ARGV: id, name (the id in lower case and normal form), body, expected (revision: '' = any, '0' = none yet),
--       may_create (0 = Redis is short of memory), filters, segments (of the config), max_configs, max_filters,
--       max_segments, max_bytes (of all; 0 = no limit), queue ('' = none), unserved_event, mode ('check' = change
--       nothing; 'reseal' = it is the same config with its keys encrypted anew, which is no change; '' otherwise),
--       then for each config that the caller counted: its id, what it counts
-- Result: {new revision, 1 when created}, {0, id} when another spelling exists, {-1, revision} when it is not the
--         expected, {-2, limit, number} when there would be more than a limit allows, {-3, id…} when the caller must
--         count these first, {-4, 0} when it may not be created, {-5, 1 when it would be created} when it was checked
local current = redis.call('HGET', revisions, id) or '0'
local holder = redis.call('HGET', config_names, name)
local taken = holder and holder ~= id and redis.call('HEXISTS', revisions, holder) == 1
if taken and current == '0' then
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
  for i = first_arg, #ARGV, 2 do
    redis.call('HSET', config_names, ':' .. ARGV[i], ARGV[i + 1])
  end
  local all, unknown = redis.call('HGETALL', revisions), {-3}
  for i = 1, #all, 2 do
    local count = redis.call('HGET', config_names, ':' .. all[i]) or ''
    local counted, n = string.match(count, '^(%d+) '), 0
    if counted ~= all[i + 1] then
      unknown[#unknown + 1] = all[i]
    end
    for number in string.gmatch(count, ' (%d+)') do
      n = n + 1
      if limits[n] and all[i] == id then
        limits[n].before = tonumber(number)
      elseif limits[n] then
        limits[n].number = limits[n].number + tonumber(number)
      end
    end
  end
  if #unknown > 1 then
    return unknown
  end
  if current == '0' and tonumber(max_configs) > 0 and #all / 2 >= tonumber(max_configs) then
    return {-2, 'configs', #all / 2 + 1}
  end
  for _, limit in ipairs(limits) do
    -- A config that becomes smaller is taken, also where older versions took more.
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
end
redis.call('HSET', configs, id, body)
redis.call('HSET', revisions, id, next_revision)
if not taken then
  redis.call('HSET', config_names, name, id)
end
redis.call('HSET', config_names, ':' .. id,
  string.format('%d %s %s %d', next_revision, filters, segments, #body))
return {next_revision, current == '0' and 1 or 0}
