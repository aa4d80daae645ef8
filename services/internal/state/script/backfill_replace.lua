-- Replaces a backfill ticket for its server, and counts its version up. No match goes to its game any more.
-- Full: runs
-- Uses: time, change, backfill, player, encoding, roster
-- KEYS: claims, joins, backfills, backfill, joining
-- ARGV: backfill_bytes (of all backfill tickets, 0 = none), may_grow (0 = Redis is short of memory), backfill_id,
--       connection ('' = none), match_id (that it must belong to, '' = any), body, new_queue ('' = as it is, '-' =
--       none), roster (encoded, '' = as it is), roster_names (of its players, with newlines between)
-- Result: 'ok', feed position, version, created, connection, queue and roster (encoded, one behind the other), then the
--         matches that went to its game, which are to be released now; or alone 'none', 'full' (the limit of bytes is
--         reached) or 'short' (of memory)
local game = {id = backfill_id, key = backfill, open = joining}
if not is_accessible(game, match_id) then
  return 'none'
end
if roster == '' then
  body = keep_notes(redis.call('HGET', backfill, BODY) or '', body)
end
local their_size = roster ~= '' and #roster + #roster_names + redis.call('HSTRLEN', backfill, STARTED_WITH)
  or players_size(game)
local size = size_of(body, '', connection, redis.call('HGET', backfill, ALLOCATED), their_size)
if not has_room(backfill_id, size) then
  return 'full'
end
if may_grow == '0' and grows(backfill_id, size) then
  return 'short'
end
local ids = close(game)
redis.call('HSET', backfill, BODY, body)
redis.call('HDEL', backfill, HIDDEN, CONNECTION)
if connection ~= '' then
  redis.call('HSET', backfill, CONNECTION, connection)
end
if new_queue == '-' then
  redis.call('HDEL', backfill, QUEUE)
elseif new_queue ~= '' then
  redis.call('HSET', backfill, QUEUE, new_queue)
end
if roster ~= '' then
  redis.call('HSET', backfill, ROSTER, roster, PLAYERS, roster_names)
end
local now, version, changes = millis(), redis.call('HINCRBY', backfill, VERSION, 1), {}
redis.call('ZADD', backfills, now, backfill_id)
describe(game, changes, now)
local created, named, allocated, queue, its_roster =
  unpack(redis.call('HMGET', backfill, CREATED, CONNECTION, ALLOCATED, QUEUE, ROSTER))
return {'ok', append_feed(changes), version, tonumber(created), named or allocated or '',
  (queue or '') .. (its_roster or ''), unpack(ids)}
