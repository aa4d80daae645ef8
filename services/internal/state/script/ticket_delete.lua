-- Deletes a ticket. When it was claimed, its match is dropped when the allocation begins (allocation_begin.lua), or
-- goes on without it when the allocation has begun. When it was proposed to a backfill ticket, an approval does not
-- assign it.
-- Full: runs
-- Uses: change, large
-- KEYS: waiting, ticket
-- ARGV: id, owner ('' = any), waiting_event, claimed_event, resolved_event, proposed_event (by the state of the ticket)
-- Result: state it was in ('' when it does not exist or has another owner), feed position (0 when it did not wait)
local state, its_owner = unpack(redis.call('HMGET', ticket, STATE, OWNER))
if not state or (owner ~= '' and its_owner ~= owner) then
  return {'', 0}
end
redis.call('DEL', ticket)
release({id})
if state == WAITING then
  redis.call('ZREM', waiting, id)
  append_small(waiting_event, id)
  return {state, append_gone(id)}
end
if state == CLAIMED then
  append_small(claimed_event, id)
elseif state == PROPOSED then
  append_small(proposed_event, id)
else
  append_small(resolved_event, id)
end
return {state, 0}
