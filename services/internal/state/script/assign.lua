-- Writes the result of a match to all of its tickets that are still there, and ends the match.
-- The backfill ticket that was created with it gets the match's connection, and so do the tickets that are proposed to it; without
-- a connection, or anybody left who goes there, it is deleted, and the proposed tickets wait again. A server that nobody uses is noted
-- among the returns.
-- KEYS: seq, feed, told, history, claims, outbox, resolved, ended, match, waiting, backfill, its proposed tickets,
--       its joined tickets, proposed, backfills, returns, then the match's ticket keys, then those of the proposed ones
-- ARGV: feed and history kept, match id, expiry of the resolved, event, id of the backfill ticket ('' = none), number of
--       the match's tickets, now, connection ('' = none), events of proposed tickets that are assigned and that wait again,
--       body of the match when it has a server or may have one ('' = it has none), what is kept of its server ('' = nothing), until when,
--       then id, assignment of each ticket, then those of the proposed ones
-- Result: 'ok', then 1 or 0 for each ticket, those proposed behind: assigned or not. When the match had ended before, nothing is
--         written: 'done' (it was assigned), 'released' or 'gone' (nobody knows any more);
--         or 'again', then id and assignment of each proposed ticket
local match, n = ARGV[3], tonumber(ARGV[7])
local function give_back()
  redis.call('HSET', KEYS[9], 's', 'x', 'b', ARGV[12])
  redis.call('HDEL', KEYS[9], 'h', 'u', 'e')
  redis.call('ZADD', KEYS[16], ARGV[8], match)
  redis.call('ZREM', KEYS[8], match)
end
local state = redis.call('HGET', KEYS[9], 's')
if state == 'd' then
  return {'done'}
elseif state ~= 'a' and state ~= 'c' then
  -- It ended without a server: one that came too late is not for its tickets.
  if ARGV[12] ~= '' then
    give_back()
  end
  return {state and 'released' or 'gone'}
end
local backfill, bf, bp, joined = ARGV[6], KEYS[11], KEYS[12], KEYS[13]
if backfill ~= '' and redis.call('EXISTS', bf) == 0 then
  backfill = ''
end
if backfill ~= '' and not attached(bp, 15 + 2 * n, 2) then
  return {'again', unpack(redis.call('HGETALL', bp))}
end
local result, ids, events = {'ok'}, {}, {}
local function assign(key, a)
  redis.call('HSET', key, 's', 'r', 'a', ARGV[a + 1])
  redis.call('HDEL', key, 'm')
end
for i = 17, 16 + n do
  local a = 2 * i - 19
  if claimed_by(KEYS[i], match) then
    assign(KEYS[i], a)
    ids[#ids + 1] = ARGV[a]
    result[i - 15] = 1
  else
    result[i - 15] = 0
  end
end
resolve(KEYS[7], ARGV[4], ids)
events[1], events[2] = ARGV[5], table.concat(ids, ' ')
redis.call('ZREM', KEYS[5], match)
redis.call('ZREM', KEYS[6], match)
-- end_match is told whether anybody goes to its server. A match that is worked on twice is told by its state; its body is needed no
-- more but to give the server back.
local function end_match(used)
  if ARGV[12] ~= '' and not used then
    return give_back()
  end
  redis.call('HSET', KEYS[9], 's', used and 'd' or 'x')
  redis.call('HDEL', KEYS[9], 'b', 'h', 'u', 'e')
  local forgotten = tonumber(ARGV[4])
  if used and ARGV[13] ~= '' then
    redis.call('HSET', KEYS[9], 'v', ARGV[13])
    forgotten = math.max(forgotten, tonumber(ARGV[14]))
  end
  redis.call('ZADD', KEYS[8], forgotten, match)
end
if backfill == '' then
  end_match(ARGV[9] ~= '' and #ids > 0)
  tell(events, #ids)
  return result
end
local fields, moved, joins = {}, #ids, {}
for i = 17 + n, #KEYS do
  local a = 2 * i - 19
  result[i - 15] = 0
  if ARGV[9] ~= '' and proposed_to(KEYS[i], backfill) then
    assign(KEYS[i], a)
    redis.call('ZADD', joined, '+inf', ARGV[a]) -- its server learns of it when it approves
    joins[#joins + 1] = ARGV[a]
    result[i - 15] = 1
  end
end
resolve(KEYS[7], ARGV[4], joins)
if #joins > 0 then
  events[3], events[4], moved = ARGV[10], table.concat(joins, ' '), moved + #joins
end
end_match(ARGV[9] ~= '' and #ids + #joins > 0)
local made = redis.call('HGET', bf, 'n')
moved = moved + reject(bf, bp, backfill, KEYS[14], KEYS[10], 17 + n, 15 + 2 * n, 2, fields, events, ARGV[11])
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
