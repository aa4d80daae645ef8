-- Functions of scripts that delete a ticket. They use time, change, large, listed, ended, encoding, acceptance, pause.
-- Reads: waiting, ticket_id, match_id, leaver, by_service, event, missing
--
-- Such a script has the match that asks the players of the ticket among its keys. The caller cannot know it for sure.
-- When it is another match, leave changes nothing.

-- leave deletes a ticket whose owner or one of whose players is player ('' = any). With keeps '1' a ticket that has its
-- result stays. It returns the result of ticket_delete.lua.
local function leave(ticket_key, match_key, player, keeps)
  local state, owner, its_players, asks, is_told, ended_by =
    unpack(redis.call('HMGET', ticket_key, STATE, OWNER, PLAYERS, ASKED, TELLS, ENDED_BY))
  -- mistake resultless: keeps = ''
  if not state or state == RESOLVED and keeps == '1' or ended_by and is_gone_for(leaver, by_service, ended_by) then
    return {'', 0, 0, ''}
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
      return {'', 0, 0, ''}
    end
    by = 'h' .. varint(position) -- field 13 of pb.Event: fields may be in any order
  end
  if state == CLAIMED and asks and asks ~= match_id then
    return {'again', 0, 0, asks}
  end
  local by_whom = leaver == '' and '' or (by_service == '1' and 's' or 'p') .. leaver
  if ended_by then
    by_whom = ended_by == '' and by_whom or ended_by .. '\n' .. by_whom
  end
  if is_told and (ended_by or state ~= RESOLVED) and is_for_others(owner, its_players, by_whom) then
    if ended_by then
      redis.call('HSET', ticket_key, ENDED_BY, by_whom)
      return {state, 0, 0, ''}
    end
    tell_end(ticket_key, 'deleted', by_whom)
    keep_ends({ticket_id}, millis())
  else
    redis.call('DEL', ticket_key)
    release({ticket_id})
    unlist(ticket_id, owner, its_players)
    if ended_by then
      return {state, 0, 0, ''}
    end
  end
  if state == WAITING then
    redis.call('ZREM', waiting, ticket_id)
    append_history({because(event, WAS_WAITING) .. by, ticket_id}, 1)
    return {state, append_feed({'-' .. ticket_id, ''}), 0, ''}
  end
  if state == CLAIMED then
    append_history({because(event, WAS_CLAIMED) .. by, ticket_id}, 1)
    if asks and disagree(match_key, asks) then
      local names, those = {}, '\n' .. (its_players or owner) .. '\n'
      for name in string.gmatch(missing, '[^\n]+') do
        if string.find(those, '\n' .. name .. '\n', 1, true) then
          names[#names + 1] = name
        end
      end
      pause(names, millis())
      return {state, 0, 1, ''}
    end
  else
    append_history({because(event, WAS_RESOLVED) .. by, ticket_id}, 1)
  end
  return {state, 0, 0, ''}
end
