-- Creates a backfill ticket.
-- Full: refused
-- Uses: time, change, backfill
-- KEYS: claims, joins, backfills, backfill, joining
-- ARGV: limit (of backfill tickets), backfill_bytes (of all of them, 0 = none), backfill_id, connection ('' = none),
--       match_id (that it belongs to, '' = none), body, queue (encoded, '' = none), roster (encoded, '' = not known),
--       roster_names (of its players, with newlines between)
-- Result: 'ok', feed position, and when it was created; or alone 'full' when the limit is reached, 'large' when the
--         limit of bytes is
if redis.call('ZCARD', backfills) >= tonumber(limit) then
  return 'full'
end
if not has_room(backfill_id, size_of(body, '', connection, '', #roster + #roster_names)) then
  return 'large'
end
local now = millis()
redis.call('HSET', backfill, VERSION, 1, CREATED, now, BELONGS_TO, match_id, BODY, body)
if connection ~= '' then
  redis.call('HSET', backfill, CONNECTION, connection)
end
redis.call('ZADD', backfills, now, backfill_id)
if queue ~= '' then
  redis.call('HSET', backfill, QUEUE, queue)
end
if roster ~= '' then
  redis.call('HSET', backfill, ROSTER, roster, PLAYERS, roster_names)
end
local changes = {}
describe({id = backfill_id, key = backfill, open = joining}, changes, now)
return {'ok', append_feed(changes), now}
