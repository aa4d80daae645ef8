-- Deletes a ticket. One that is claimed takes its match with it when the
-- allocator begins (begin.lua), or leaves the rest of it when a server was asked for already.
-- KEYS: seq, feed, waiting, resolved, ticket
-- ARGV: feed maxlen, id, owner ('' = whoever)
-- Result: state it was in ('' when missing or of another owner), feed position (0 when the waiting set did not change)
local ticket = redis.call('HMGET', KEYS[5], 's', 'o')
local state = ticket[1]
if not state or (ARGV[3] ~= '' and ticket[2] ~= ARGV[3]) then
  return {'', 0}
end
redis.call('DEL', KEYS[5])
if state == 'w' then
  redis.call('ZREM', KEYS[3], ARGV[2])
  return {state, feed(ARGV[1], {'-' .. ARGV[2], ''})}
end
if state == 'r' then
  redis.call('ZREM', KEYS[4], ARGV[2])
end
return {state, 0}
