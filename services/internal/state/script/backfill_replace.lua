-- Replaces what its server says of a backfill ticket, counts its version up, and makes the tickets that are proposed to
-- it wait again. Players who are asked whether they go to its game are not asked any more.
-- Full: runs
-- Uses: time, change, backfill, proposal, player, roster
-- KEYS: waiting, claims, backfills, proposed, backfill, proposals, then ticket…
-- ARGV: bytes_limit (of all backfill tickets, 0 = none), may_grow (0 = Redis is short of memory), backfill_id,
--       connection ('' = none), match_id (that it must belong to, '' = any), body, new_queue ('' = as it is, '-' =
--       none), roster (encoded, '' = as it is), roster_names (of its players, with newlines between), rejected_event,
--       then id…
-- Result: 'ok', feed position, version, created, connection, queue, roster; 'none'; 'full' (the limit of bytes is
--         reached); 'short' (of memory); or 'again', the ids of the proposed tickets
if not is_accessible() then
  return {'none'}
end
if roster == '' then
  body = keep_notes(redis.call('HGET', backfill, BODY) or '', body)
end
local players_size = roster ~= '' and #roster + #roster_names + redis.call('HSTRLEN', backfill, STARTED_WITH)
  or roster_size(backfill)
local size = size_of(body, '', connection, redis.call('HGET', backfill, ALLOCATED), players_size)
if not has_room(size) then
  return {'full'}
end
if may_grow == '0' and grows(size) then
  return {'short'}
end
if not are_proposed(1) then
  return again()
end
local changes, events = {}, {}
local rejected = reject(1, changes, events, rejected_event)
redis.call('HSET', backfill, BODY, body)
end_asking()
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
redis.call('ZADD', backfills, millis(), backfill_id)
local version = redis.call('HINCRBY', backfill, VERSION, 1)
describe(changes)
if rejected > 0 then
  append_history(events, rejected)
end
local created, named, allocated, queue, its_roster =
  unpack(redis.call('HMGET', backfill, CREATED, CONNECTION, ALLOCATED, QUEUE, ROSTER))
return {'ok', append_feed(changes), version, tonumber(created), named or allocated or '', queue or '',
  its_roster or ''}
