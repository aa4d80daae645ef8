-- Begins the allocation of a match: from here on its tickets' leaving no longer
-- drops it. When a ticket left before, the match is dropped and the others wait again.
-- KEYS: seq, feed, told, history, waiting, claims, outbox, match, then its ticket keys
-- ARGV: feed and history kept, match id, deadline of the allocation, events of a match that begins and of one that is dropped,
--       then its ticket ids
-- Result: 'ok', 'done' (assigned before), 'released', 'gone' (ended long ago) or 'dropped', feed position (0 unless dropped)
local state = redis.call('HGET', KEYS[8], 's')
if not state then
  return {'gone', 0}
elseif state == 'd' then
  return {'done', 0}
elseif state == 'x' then
  return {'released', 0}
end
local fields, ids = {}, {}
for i = 9, #KEYS do
  if claimed_by(KEYS[i], ARGV[3]) then
    ids[#ids + 1] = ARGV[i - 2]
  end
end
if state == 'c' and #ids < #KEYS - 8 then
  local kept = 1
  for i = 9, #KEYS do
    if ARGV[i - 2] == ids[kept] then
      wait_again(KEYS[5], KEYS[i], ids[kept], fields)
      kept = kept + 1
    end
  end
  redis.call('DEL', KEYS[8])
  redis.call('ZREM', KEYS[6], ARGV[3])
  redis.call('ZREM', KEYS[7], ARGV[3])
  tell({ARGV[6], table.concat(ids, ' ')}, #ids)
  if #fields == 0 then
    return {'dropped', 0}
  end
  return {'dropped', feed(fields)}
end
redis.call('HSET', KEYS[8], 's', 'a')
redis.call('ZADD', KEYS[6], ARGV[4], ARGV[3])
redis.call('ZREM', KEYS[7], ARGV[3])
tell({ARGV[5], table.concat(ids, ' ')}, #ids)
return {'ok', 0}
