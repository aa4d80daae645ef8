-- Writes the result of a match to all of its tickets that are still there, and ends the match.
-- KEYS: claims, outbox, resolved, ended, match, then its ticket keys
-- ARGV: match id, expiry of the resolved, then id, assignment of each ticket
-- Result: 'ok', then 1 or 0 for each ticket: assigned or not there. When the match had ended before, nothing is written:
--         'done' (it was assigned), 'released' or 'gone' (nobody knows any more)
local state = redis.call('HGET', KEYS[5], 's')
if state == 'd' then
  return {'done'}
elseif state == 'x' then
  return {'released'}
elseif not state then
  return {'gone'}
end
local result = {'ok'}
for i = 6, #KEYS do
  local a = 2 * i - 9
  local ticket = redis.call('HMGET', KEYS[i], 's', 'm')
  if ticket[1] == 'c' and ticket[2] == ARGV[1] then
    redis.call('HSET', KEYS[i], 's', 'r', 'a', ARGV[a + 1])
    redis.call('HDEL', KEYS[i], 'm')
    redis.call('ZADD', KEYS[3], ARGV[2], ARGV[a])
    result[i - 4] = 1
  else
    result[i - 4] = 0
  end
end
-- A match that is worked on twice is told by its state; its body is needed no more.
redis.call('HSET', KEYS[5], 's', 'd')
redis.call('HDEL', KEYS[5], 'b')
redis.call('ZADD', KEYS[4], ARGV[2], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return result
