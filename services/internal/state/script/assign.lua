-- Writes the result of a match to all of its tickets that are still there, and ends the match.
-- KEYS: seq, feed, told, history, claims, outbox, resolved, ended, match, then its ticket keys
-- ARGV: feed and history kept, match id, expiry of the resolved, event, then id, assignment of each ticket
-- Result: 'ok', then 1 or 0 for each ticket: assigned or not there. When the match had ended before, nothing is written:
--         'done' (it was assigned), 'released' or 'gone' (nobody knows any more)
local state = redis.call('HGET', KEYS[9], 's')
if state == 'd' then
  return {'done'}
elseif state == 'x' then
  return {'released'}
elseif not state then
  return {'gone'}
end
local result, ids = {'ok'}, {}
for i = 10, #KEYS do
  local a = 2 * i - 14
  if claimed_by(KEYS[i], ARGV[3]) then
    redis.call('HSET', KEYS[i], 's', 'r', 'a', ARGV[a + 1])
    redis.call('HDEL', KEYS[i], 'm')
    redis.call('ZADD', KEYS[7], ARGV[4], ARGV[a])
    ids[#ids + 1] = ARGV[a]
    result[i - 8] = 1
  else
    result[i - 8] = 0
  end
end
-- A match that is worked on twice is told by its state; its body is needed no more.
redis.call('HSET', KEYS[9], 's', 'd')
redis.call('HDEL', KEYS[9], 'b')
redis.call('ZADD', KEYS[8], ARGV[4], ARGV[3])
redis.call('ZREM', KEYS[5], ARGV[3])
redis.call('ZREM', KEYS[6], ARGV[3])
tell({ARGV[5], table.concat(ids, ' ')}, #ids)
return result
