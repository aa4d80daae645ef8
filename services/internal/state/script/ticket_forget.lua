-- Takes a player out of a ticket that has its result and is for others, too.
-- Full: runs
-- Uses: listed
-- KEYS: ticket
-- ARGV: id, player, read (the body that the caller read), new_body, new_owner, new_players (without the player)
-- Result: 1, or 0 when the ticket is not what the caller read, or has no result
local state, body, ended_by = unpack(redis.call('HMGET', ticket, STATE, BODY, ENDED_BY))
if state ~= RESOLVED or body ~= read then
  return 0
end
redis.call('HSET', ticket, BODY, new_body, OWNER, new_owner, PLAYERS, new_players)
if ended_by then
  local kept = {}
  for kind, name in string.gmatch(ended_by, '([ps])([^\n]*)') do
    if name ~= player then
      kept[#kept + 1] = kind .. name
    elseif kind == 's' then
      kept[#kept + 1] = kind -- for service tokens it stays gone
    end
  end
  redis.call('HSET', ticket, ENDED_BY, table.concat(kept, '\n'))
end
unlist(id, player, '')
return 1
