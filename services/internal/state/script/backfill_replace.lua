-- Replaces what its server says of a backfill ticket, counts its version up, and makes the tickets that
-- are proposed to it wait again.
-- KEYS: seq, feed, told, history, waiting, backfills, proposed, backfill, its proposed tickets, then their ticket keys
-- ARGV: feed and history kept, id, now, connection ('' = none), match that it must belong to ('' = whichever), body,
--       event of the proposed tickets, then their ids
-- Result: 'ok', feed position, version, created, connection; 'none'; or 'again', the ids of the proposed tickets
local id, bf, bp = ARGV[3], KEYS[8], KEYS[9]
if not may_touch(bf, ARGV[6]) then
  return {'none'}
end
if not attached(bp, 9, 1) then
  return again(bp)
end
local fields, events = {}, {}
local rejected = reject(bf, bp, id, KEYS[7], KEYS[5], 10, 9, 1, fields, events, ARGV[8])
redis.call('HSET', bf, 'b', ARGV[7])
redis.call('HDEL', bf, 'h', 'a')
if ARGV[5] ~= '' then
  redis.call('HSET', bf, 'a', ARGV[5])
end
redis.call('ZADD', KEYS[6], ARGV[4], id)
local version = redis.call('HINCRBY', bf, 'v', 1)
show(bf, id, fields)
tell_some(events, rejected)
local t = redis.call('HMGET', bf, 'c', 'a', 'd')
return {'ok', feed(fields), version, tonumber(t[1]), t[2] or t[3] or ''}
