-- Deletes a config. From then on no match of it is claimed.
-- KEYS: configs, revisions, config_names
-- ARGV: id, lower_id, expected (revision: '' = any)
-- Result: 1 when it existed, 0 when not, -1 when its revision is not the expected one
local current = redis.call('HGET', revisions, id) or '0'
if expected ~= '' and expected ~= current then
  return -1
end
if current == '0' then
  return 0
end
redis.call('HDEL', revisions, id)
redis.call('HDEL', configs, id)
redis.call('HDEL', config_names, lower_id)
return 1
