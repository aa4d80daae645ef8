-- Deletes a ticket. When it was claimed, its match is dropped when the allocation begins (allocation_begin.lua), or
-- goes on without it when the allocation has begun. When it was proposed to a backfill ticket, an approval does not
-- assign it.
-- Full: runs
-- Uses: change, large, listed
-- KEYS: waiting, ticket
-- ARGV: id, player ('' = any), waiting_event, claimed_event, resolved_event, proposed_event (by the state it is in)
-- Result: state it was in ('' when it does not exist or is not the player's), feed position (0 when it did not wait)
local state, owner, its_players = unpack(redis.call('HMGET', ticket, STATE, OWNER, PLAYERS))
if not state then
  return {'', 0}
end
local by = ''
if player ~= '' and player ~= owner then
  local number, position = 0, 0
  for other in string.gmatch(its_players or '', '[^\n]+') do
    number = number + 1
    if other == player then
      position = number
    end
  end
  if position == 0 then
    return {'', 0}
  end
  -- Field 13 of pb.Event: fields may be in any order.
  if position < 128 then
    by = 'h' .. string.char(position)
  else
    by = 'h' .. string.char(position % 128 + 128, math.floor(position / 128))
  end
end
redis.call('DEL', ticket)
release({id})
if has_lists() then
  unlist(id, owner, its_players)
end
if state == WAITING then
  redis.call('ZREM', waiting, id)
  append_small(waiting_event .. by, id)
  return {state, append_gone(id)}
end
if state == CLAIMED then
  append_small(claimed_event .. by, id)
elseif state == PROPOSED then
  append_small(proposed_event .. by, id)
else
  append_small(resolved_event .. by, id)
end
return {state, 0}
