-- Functions of scripts that end tickets which wait. They use change, large, listed and ended.

-- end_waiting ends tickets, each a key and an id, that the script took out of waiting, with a reason. It returns how
-- many, the feed's position (0 when none ended), and the ids of tickets whose end is told.
local function end_waiting(tickets, reason, event, now)
  if #tickets == 0 then
    return 0, 0
  end
  local changes, ids, told, deleted = {}, {}, {}, {}
  for i, one in ipairs(tickets) do
    local ticket, id = unpack(one)
    local owner, its_players, is_told = unpack(redis.call('HMGET', ticket, OWNER, PLAYERS, TELLS))
    end_ticket(ticket, id, owner, its_players, is_told, reason, told, deleted)
    ids[i] = id
    add(changes, '-' .. id, '')
  end
  release(deleted)
  keep_ends(told, now)
  append_history({event, table.concat(ids, ' ')}, #ids)
  return #ids, append_feed(changes), unpack(told)
end
