-- Creates a backfill ticket, or replaces its contents and counts its version up.
-- KEYS: backfill, backfills
-- ARGV: id, 'new' or 'old' (must not, or must exist), created, now, body
-- Result: {version, created}, {0, 0} when a backfill ticket that must exist does not
if ARGV[2] == 'old' and redis.call('EXISTS', KEYS[1]) == 0 then
  return {0, 0}
end
redis.call('HSETNX', KEYS[1], 'c', ARGV[3])
redis.call('HSET', KEYS[1], 'b', ARGV[5])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
return {redis.call('HINCRBY', KEYS[1], 'v', 1), tonumber(redis.call('HGET', KEYS[1], 'c'))}
