-- Functions of scripts that end tickets without a match.
-- Reads: told_time
--
-- A ticket with TELLS has the reason of its end as its result, for as long as results are readable. ENDED_BY lists the
-- players that deleted it: to them it is gone. It has an element for each, with newlines between: 's' for a service
-- token, 'p' for the player's own, and the player. Its end had an event, so later changes have none.

-- tell_end makes the reason, of less than 128 bytes, the result of a ticket. keep_ends must follow.
local function tell_end(ticket, reason, by)
  redis.call('HSET', ticket, STATE, RESOLVED, ASSIGNMENT, '\18' .. string.char(#reason) .. reason, ENDED_BY, by)
  redis.call('HDEL', ticket, RESERVED_BY, ASKED)
end

-- keep_ends notes until when the ends of tickets can be read. The mark tells expire_results.lua that these are ends.
local function keep_ends(ids, now)
  -- mistake firstend: ids = {ids[1]}
  if #ids > 0 then
    keep_results({'-', unpack(ids)}, #ids, now, tonumber(told_time))
  end
end

-- end_ticket ends a ticket with a reason. It adds the id to told if its end is told, else to deleted.
local function end_ticket(ticket, id, owner, its_players, is_told, reason, told, deleted)
  if is_told then
    tell_end(ticket, reason, '')
    told[#told + 1] = id
  else
    redis.call('DEL', ticket)
    deleted[#deleted + 1] = id
    unlist(id, owner, its_players)
  end
end

-- is_gone_for reports whether a ticket is gone for a player, or a service token.
local function is_gone_for(player, service, ended_by)
  for kind, name in string.gmatch(ended_by, '([ps])([^\n]*)') do
    if name == player or kind == 's' and service == '1' then
      return true
    end
  end
  return false
end

-- is_for_others reports whether a ticket has an owner, or a player, that did not delete it.
local function is_for_others(owner, its_players, ended_by)
  local left = {}
  for name in string.gmatch(ended_by, '[ps]([^\n]*)') do
    left[name] = true
  end
  for name in string.gmatch(owner .. '\n' .. (its_players or ''), '[^\n]+') do
    if not left[name] then
      return true
    end
  end
  return false
end
