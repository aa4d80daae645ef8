-- Creates or replaces a config. Ids that differ only in case are one name on most file systems, so the first one has it.
-- KEYS: configs, revisions, revision, confignames
-- ARGV: id, id in lower case, body, expected revision ('' = any, '0' = none yet)
-- Result: {new revision, 1 when created}, {0, id} when another spelling exists, {-1, revision} when it is not the expected one
local other = redis.call('HGET', KEYS[4], ARGV[2])
if other and other ~= ARGV[1] then
  return {0, other}
end
local current = redis.call('HGET', KEYS[2], ARGV[1]) or '0'
if ARGV[4] ~= '' and ARGV[4] ~= current then
  return {-1, current}
end
local revision = redis.call('INCR', KEYS[3])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], revision)
redis.call('HSET', KEYS[4], ARGV[2], ARGV[1])
return {revision, current == '0' and 1 or 0}
