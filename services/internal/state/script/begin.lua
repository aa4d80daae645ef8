-- Begins the allocation of a match: from here on its tickets' leaving no longer
-- drops it. When a ticket left before, the match is dropped and the others wait again.
-- KEYS: seq, feed, waiting, claims, outbox, match, then its ticket keys
-- ARGV: feed maxlen, match id, deadline of the allocation, then its ticket ids
-- Result: 'ok', 'done' (assigned before), 'released', 'gone' (ended long ago) or 'dropped', feed position (0 unless dropped)
local state = redis.call('HGET', KEYS[6], 's')
if not state then
  return {'gone', 0}
elseif state == 'd' then
  return {'done', 0}
elseif state == 'x' then
  return {'released', 0}
end
if state == 'c' then
  local fields = {}
  local kept = {}
  for i = 7, #KEYS do
    if claimed_by(KEYS[i], ARGV[2]) then
      kept[#kept + 1] = i
    end
  end
  if #kept < #KEYS - 6 then
    for _, i in ipairs(kept) do
      wait_again(KEYS[3], KEYS[i], ARGV[i - 3], fields)
    end
    redis.call('DEL', KEYS[6])
    redis.call('ZREM', KEYS[4], ARGV[2])
    redis.call('ZREM', KEYS[5], ARGV[2])
    if #fields == 0 then
      return {'dropped', 0}
    end
    return {'dropped', feed(ARGV[1], fields)}
  end
  redis.call('HSET', KEYS[6], 's', 'a')
end
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[2])
redis.call('ZREM', KEYS[5], ARGV[2])
return {'ok', 0}
