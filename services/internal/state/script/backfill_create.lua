-- Creates a backfill ticket.
-- KEYS: seq, feed, told, history, backfills, backfill
-- ARGV: feed and history kept, limit of backfill tickets, id, now, connection ('' = none), match that it belongs to ('' = none), body
-- Result: feed position, 0 when there are as many as there may be
if redis.call('ZCARD', KEYS[5]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', KEYS[6], 'v', 1, 'c', ARGV[5], 'o', ARGV[7], 'b', ARGV[8])
if ARGV[6] ~= '' then
  redis.call('HSET', KEYS[6], 'a', ARGV[6])
end
redis.call('ZADD', KEYS[5], ARGV[5], ARGV[4])
local fields = {}
show(KEYS[6], ARGV[4], fields)
return feed(fields)
