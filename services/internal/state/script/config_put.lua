-- Creates or replaces a config. The first of the ids that differ only in letter case has the name: most file systems
-- take them for one.
-- KEYS: configs, revisions, revision, config_names
-- ARGV: id, lower_id, body, expected (revision: '' = any, '0' = none yet)
-- Result: {new revision, 1 when created}, {0, id} when another spelling exists, {-1, revision} when it is not the
--         expected
local spelling = redis.call('HGET', config_names, lower_id)
if spelling and spelling ~= id then
  return {0, spelling}
end
local current = redis.call('HGET', revisions, id) or '0'
if expected ~= '' and expected ~= current then
  return {-1, current}
end
local next_revision = redis.call('INCR', revision)
redis.call('HSET', configs, id, body)
redis.call('HSET', revisions, id, next_revision)
redis.call('HSET', config_names, lower_id, id)
return {next_revision, current == '0' and 1 or 0}
