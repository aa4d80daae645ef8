-- Deletes a ticket. When it was claimed, its match is dropped when the allocation begins (allocation_begin.lua), or
-- goes on without it when the allocation has begun. While its match asks its players whether they accept, that declines
-- it. When it was proposed to a backfill ticket, an approval does not assign it. Where its end is told, players who did
-- not delete it can read that it was.
-- Full: runs
-- Uses: time, change, large, listed, ended, acceptance, pause
-- KEYS: waiting, resolved, claims, match (that asks its players), ticket
-- ARGV: id, match_id ('' = unknown, or none), player ('' = any), keeps ('1' = not if it has a result), leaver (who
--       deletes it, '' = nobody of it), by_service ('1' = with a service token), told_time (for how many
--       milliseconds its end is), waiting_event, claimed_event, resolved_event, proposed_event (by the state it is in),
--       first_pause, longest_pause (in milliseconds, 0 = players do not pause who declined), pause_limit, missing (the
--       players who decline by that, with newlines between)
-- Result: state it was in ('' when it does not exist or is not the player's), feed position (0 when it did not wait),
--         and 1 when that ended the acceptance of its match; or 'again' and the match that asks its players
local state, owner, its_players, asks, is_told, ended_by =
  unpack(redis.call('HMGET', ticket, STATE, OWNER, PLAYERS, ASKED, TELLS, ENDED_BY))
if not state or state == RESOLVED and keeps == '1' or ended_by and is_gone_for(leaver, by_service, ended_by) then
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
if state == CLAIMED and asks and asks ~= match_id then
  return {'again', asks}
end
local by_whom = leaver == '' and '' or (by_service == '1' and 's' or 'p') .. leaver
if ended_by then
  by_whom = ended_by == '' and by_whom or ended_by .. '\n' .. by_whom
end
if is_told and (ended_by or state ~= RESOLVED) and is_for_others(owner, its_players, by_whom) then
  if ended_by then
    redis.call('HSET', ticket, ENDED_BY, by_whom)
    return {state, 0}
  end
  tell_end(ticket, 'deleted', by_whom)
  keep_ends({id}, millis())
else
  redis.call('DEL', ticket)
  release({id})
  if has_lists() then
    unlist(id, owner, its_players)
  end
  if ended_by then
    return {state, 0}
  end
end
if state == WAITING then
  redis.call('ZREM', waiting, id)
  append_small(waiting_event .. by, id)
  return {state, append_gone(id)}
end
if state == CLAIMED then
  append_small(claimed_event .. by, id)
  if asks and disagree(match, asks) then
    local names = {}
    for name in string.gmatch(missing, '[^\n]+') do
      names[#names + 1] = name
    end
    pause(names, millis())
    return {state, 0, 1}
  end
elseif state == PROPOSED then
  append_small(proposed_event .. by, id)
else
  append_small(resolved_event .. by, id)
end
return {state, 0}
