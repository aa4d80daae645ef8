-- Functions of scripts that create or delete tickets.
-- KEYS: by_player

-- In a project that lists the tickets of its players, the hash by_player has the ids of each player's tickets, the
-- oldest first, with spaces between. A project that does not has no hash, and pays one call for each script.
local lists_read, is_any = {}, nil

-- has_lists reports whether there are any.
local function has_lists()
  if is_any == nil then
    is_any = redis.call('EXISTS', by_player) == 1
  end
  return is_any
end

-- list_of returns the ids of a player's tickets. It reads them once.
local function list_of(name)
  local list = lists_read[name]
  if not list then
    list = {}
    for id in string.gmatch(redis.call('HGET', by_player, name) or '', '[^ ]+') do
      list[#list + 1] = id
    end
    lists_read[name] = list
  end
  return list
end

-- write_list writes the list of a player.
local function write_list(name, list)
  if #list == 0 then
    redis.call('HDEL', by_player, name)
  else
    redis.call('HSET', by_player, name, table.concat(list, ' '))
    is_any = true
  end
end

-- unlist takes a ticket that is deleted off the lists of its players.
local function unlist(id, owner, its_players)
  if not has_lists() then
    return
  end
  for name in string.gmatch(its_players and its_players ~= '' and its_players or owner, '[^\n]+') do
    local list = list_of(name)
    for n = #list, 1, -1 do
      if list[n] == id then
        table.remove(list, n)
      end
    end
    write_list(name, list)
  end
end
