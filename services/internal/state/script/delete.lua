-- Deletes a ticket. One that is claimed takes its match with it when the
-- allocator begins (begin.lua), or leaves the rest of it when a server was asked for already. One that is proposed to a
-- backfill ticket is not among those that its server's approval assigns.
-- KEYS: seq, feed, told, history, waiting, ticket
-- ARGV: feed and history kept, id, owner ('' = whoever), events of a ticket that was waiting, claimed, resolved or proposed
-- Result: state it was in ('' when missing or of another owner), feed position (0 when the waiting set did not change)
local ticket = redis.call('HMGET', KEYS[6], 's', 'o')
local state = ticket[1]
if not state or (ARGV[4] ~= '' and ticket[2] ~= ARGV[4]) then
  return {'', 0}
end
redis.call('DEL', KEYS[6])
if state == 'w' then
  redis.call('ZREM', KEYS[5], ARGV[3])
  tell({ARGV[5], ARGV[3]}, 1)
  return {state, feed({'-' .. ARGV[3], ''})}
end
if state == 'c' then
  tell({ARGV[6], ARGV[3]}, 1)
elseif state == 'p' then
  tell({ARGV[8], ARGV[3]}, 1)
else
  tell({ARGV[7], ARGV[3]}, 1)
end
return {state, 0}
