-- Functions of scripts that delete tickets.
-- KEYS: by_player

-- In a project that lists the tickets of its players, the hash by_player has the ids of each player's tickets, the
-- oldest first, with spaces between. A project that does not has no hash, and pays one call for each script.

-- has_lists reports whether there are any.
local function has_lists()
  return redis.call('EXISTS', by_player) == 1
end

-- unlist takes a ticket that is deleted off the lists of its players.
local function unlist(id, owner, its_players)
  local names = its_players
  if not its_players or its_players == '' then
    names = owner
  end
  for name in string.gmatch(names, '[^\n]+') do
    local kept = {}
    for other in string.gmatch(redis.call('HGET', by_player, name) or '', '[^ ]+') do
      if other ~= id then
        kept[#kept + 1] = other
      end
    end
    if #kept == 0 then
      redis.call('HDEL', by_player, name)
    else
      redis.call('HSET', by_player, name, table.concat(kept, ' '))
    end
  end
end
