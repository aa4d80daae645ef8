-- Functions of scripts that let players into running games. They use player and encoding.

-- roster_refuses returns why the tickets KEYS[from] to KEYS[to] must not go to a game: 'players' if one of their
-- players is in the game, or goes there, or is in two of them, and 'full' if they are too many. Without a reason it
-- returns nil, and the names of their players.
local function roster_refuses(game, from, to, now)
  local there, lately = unpack(redis.call('HMGET', game.key, PLAYERS, LATELY))
  local seen, size, names = {}, #(there or ''), {}
  for name in string.gmatch(there or '', '[^\n]+') do
    seen[name] = true
  end
  for _, one in ipairs(redis.call('HVALS', game.open)) do
    size = size + #one
    for name in string.gmatch(string.match(one, ' (.*)'), '[^\n]+') do
      seen[name] = true
    end
  end
  for time, name in string.gmatch(lately or '', '(%d+) ([^\n]+)') do
    if there and tonumber(time) > now - UNHEARD then
      seen[name] = true
    end
  end
  -- mistake seatless: seen = {}
  for i = from, to do
    names[#names + 1] = names_of(KEYS[i])
    for name in string.gmatch(names[#names], '[^\n]+') do
      if seen[name] then
        return 'players'
      end
      seen[name] = true
    end
  end
  names = table.concat(names, '\n')
  if size + #names > ROSTER_NAMES then
    return 'full'
  end
  return nil, names
end

-- note_joined notes the players of tickets that join, and adds them to the roster, if the server sent one.
-- their_results are the results of the tickets, in the order of the keys.
local function note_joined(game, keys, their_results, now)
  if #keys == 0 then
    return
  end
  local there, roster, lately = unpack(redis.call('HMGET', game.key, PLAYERS, ROSTER, LATELY))
  local names, added, size, recent = {}, {roster or ''}, #(roster or ''), {}
  for line in string.gmatch(lately or '', '[^\n]+') do
    if tonumber(string.match(line, '%d+')) > now - UNHEARD then
      recent[#recent + 1] = line
    end
  end
  if there ~= '' then
    names[1] = there or nil
  end
  for i, key in ipairs(keys) do
    local joining = names_of(key)
    if there then
      names[#names + 1] = joining
      added[#added + 1] = size < ROSTER_BYTES and entries_of(key, joining, their_results[i]) or ids_of(joining, '', {})
      size = size + #added[#added]
    end
    for name in string.gmatch(joining, '[^\n]+') do
      recent[#recent + 1] = string.format('%.0f ', now) .. name
    end
  end
  lately = table.concat(recent, '\n')
  if #lately > ROSTER_NAMES then
    lately = string.match(string.sub(lately, -ROSTER_NAMES), '\n(.*)') or ''
  end
  redis.call('HSET', game.key, LATELY, lately)
  if there then
    redis.call('HSET', game.key, PLAYERS, table.concat(names, '\n'), ROSTER, table.concat(added))
  end
end
