-- Writes the result of a match to all of its tickets that are still there, and ends the match.
-- The backfill ticket that was created with it gets the match's connection, and so do the tickets that are proposed to it; without
-- a connection, or anybody left who goes there, it is deleted, and the proposed tickets wait again.
-- KEYS: seq, feed, told, history, claims, outbox, resolved, ended, match, waiting, backfill, its proposed tickets,
--       its joined tickets, proposed, backfills, then the match's ticket keys, then those of the proposed ones
-- ARGV: feed and history kept, match id, expiry of the resolved, event, id of the backfill ticket ('' = none), number of
--       the match's tickets, now, connection ('' = none), events of proposed tickets that are assigned and that wait again,
--       then id, assignment of each ticket, then those of the proposed ones
-- Result: 'ok', then 1 or 0 for each ticket, those proposed behind: assigned or not. When the match had ended before, nothing is
--         written: 'done' (it was assigned), 'released' or 'gone' (nobody knows any more);
--         or 'again', then id and assignment of each proposed ticket
local state = redis.call('HGET', KEYS[9], 's')
if state == 'd' then
  return {'done'}
elseif state == 'x' then
  return {'released'}
elseif not state then
  return {'gone'}
end
local match, n = ARGV[3], tonumber(ARGV[7])
local backfill, bf, bp, joined = ARGV[6], KEYS[11], KEYS[12], KEYS[13]
if backfill ~= '' and redis.call('EXISTS', bf) == 0 then
  backfill = ''
end
if backfill ~= '' and not attached(bp, 12 + 2 * n, 2) then
  return {'again', unpack(redis.call('HGETALL', bp))}
end
local result, ids, events = {'ok'}, {}, {}
local function assign(key, a)
  redis.call('HSET', key, 's', 'r', 'a', ARGV[a + 1])
  redis.call('HDEL', key, 'm')
  redis.call('ZADD', KEYS[7], ARGV[4], ARGV[a])
end
for i = 16, 15 + n do
  local a = 2 * i - 20
  if claimed_by(KEYS[i], match) then
    assign(KEYS[i], a)
    ids[#ids + 1] = ARGV[a]
    result[i - 14] = 1
  else
    result[i - 14] = 0
  end
end
events[1], events[2] = ARGV[5], table.concat(ids, ' ')
-- A match that is worked on twice is told by its state; its body is needed no more.
redis.call('HSET', KEYS[9], 's', 'd')
redis.call('HDEL', KEYS[9], 'b')
redis.call('ZADD', KEYS[8], ARGV[4], match)
redis.call('ZREM', KEYS[5], match)
redis.call('ZREM', KEYS[6], match)
if backfill == '' then
  tell(events, #ids)
  return result
end
local fields, moved, joins = {}, #ids, {}
for i = 16 + n, #KEYS do
  local a = 2 * i - 20
  result[i - 14] = 0
  if ARGV[9] ~= '' and proposed_to(KEYS[i], backfill) then
    assign(KEYS[i], a)
    redis.call('ZADD', joined, '+inf', ARGV[a]) -- its server learns of it when it approves
    joins[#joins + 1] = ARGV[a]
    result[i - 14] = 1
  end
end
if #joins > 0 then
  events[3], events[4], moved = ARGV[10], table.concat(joins, ' '), moved + #joins
end
local made = redis.call('HGET', bf, 'n')
moved = moved + reject(bf, bp, backfill, KEYS[14], KEYS[10], 16 + n, 12 + 2 * n, 2, fields, events, ARGV[11])
if ARGV[9] ~= '' and #ids + #joins > 0 then
  redis.call('HSET', bf, 'd', ARGV[9])
  redis.call('HDEL', bf, 'm', 'h')
  if made and #joins > 0 then
    redis.call('HSET', bf, 'b', made)
  end
  redis.call('ZADD', KEYS[15], ARGV[8], backfill)
  show(bf, backfill, fields)
else
  forget(bf, joined, backfill, KEYS[15], fields)
end
tell(events, moved)
feed(fields)
return result
