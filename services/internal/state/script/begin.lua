-- Begins the allocation of a match, or goes on with it, and gives the match into the hands of one holder for a while: nobody else
-- asks for its server meanwhile. From here on its tickets' leaving no longer drops it. When a ticket left before, the match is dropped and the others wait again, those too that were proposed
-- to the backfill ticket that was created with it, which is deleted.
-- KEYS: seq, feed, told, history, waiting, claims, outbox, match, backfill, its proposed tickets, its joined tickets,
--       proposed, backfills, then the match's ticket keys, then those of the proposed ones
-- ARGV: feed and history kept, match id, deadline of the claim, events of a match that begins and of one that is dropped,
--       id of the backfill ticket ('' = none), event of the proposed tickets, number of the match's tickets,
--       holder, now, until when it holds the match, deadline of the allocation,
--       then the tickets' ids, then those of the proposed ones
-- Result: 'ok', 0, 1 when nobody began before else 0, deadline of the allocation (that of the first beginning);
--         'busy', for how many milliseconds another holder still has it;
--         'done' (assigned before), 'released', 'gone' (ended long ago) or 'dropped', feed position (0 unless dropped);
--         or 'again', the ids of the proposed tickets
local match = redis.call('HMGET', KEYS[8], 's', 'h', 'u', 'e')
local state = match[1]
if not state then
  return {'gone', 0}
elseif state == 'd' then
  return {'done', 0}
elseif state == 'x' then
  return {'released', 0}
end
if state == 'a' and match[2] and match[2] ~= ARGV[10] and tonumber(match[3]) > tonumber(ARGV[11]) then
  return {'busy', match[3] - ARGV[11]}
end
local fields, ids, n = {}, {}, tonumber(ARGV[9])
for i = 14, 13 + n do
  if claimed_by(KEYS[i], ARGV[3]) then
    ids[#ids + 1] = ARGV[i]
  end
end
if state == 'c' and #ids < n then
  local backfill = ARGV[7] ~= '' and redis.call('EXISTS', KEYS[9]) == 1
  if backfill and not attached(KEYS[10], 14 + n, 1) then
    return again(KEYS[10])
  end
  local kept = 1
  for i = 14, 13 + n do
    if ARGV[i] == ids[kept] then
      wait_again(KEYS[5], KEYS[i], ids[kept], fields)
      kept = kept + 1
    end
  end
  redis.call('DEL', KEYS[8])
  redis.call('ZREM', KEYS[6], ARGV[3])
  redis.call('ZREM', KEYS[7], ARGV[3])
  local events, moved = {ARGV[6], table.concat(ids, ' ')}, #ids
  if backfill then
    moved = moved + reject(KEYS[9], KEYS[10], ARGV[7], KEYS[12], KEYS[5], 14 + n, 14 + n, 1, fields, events, ARGV[8])
    forget(KEYS[9], KEYS[11], ARGV[7], KEYS[13], fields)
  end
  tell(events, moved)
  if #fields == 0 then
    return {'dropped', 0}
  end
  return {'dropped', feed(fields)}
end
redis.call('HSET', KEYS[8], 's', 'a', 'h', ARGV[10], 'u', ARGV[12])
redis.call('ZREM', KEYS[7], ARGV[3])
tell({ARGV[5], table.concat(ids, ' ')}, #ids)
if state == 'a' then
  return {'ok', 0, 0, tonumber(match[4])}
end
-- The deadlines are those of the first beginning: whoever goes on has the rest of the time.
redis.call('HSET', KEYS[8], 'e', ARGV[13])
redis.call('ZADD', KEYS[6], ARGV[4], ARGV[3])
return {'ok', 0, 1, tonumber(ARGV[13])}
