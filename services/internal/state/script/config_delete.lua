-- Deletes a config: from this moment no match of it is claimed.
-- KEYS: configs, revisions, confignames
-- ARGV: id, id in lower case, expected revision ('' = any)
-- Result: 1 when it was there, 0 when not, -1 when its revision is not the expected one
local current = redis.call('HGET', KEYS[2], ARGV[1]) or '0'
if ARGV[3] ~= '' and ARGV[3] ~= current then
  return -1
end
if current == '0' then
  return 0
end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[2])
return 1
