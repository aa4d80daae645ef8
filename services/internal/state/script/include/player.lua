-- Functions of scripts that put tickets into one match.

-- names_of returns the players of a ticket, with newlines between.
local function names_of(key)
  local owner, its_players = unpack(redis.call('HMGET', key, OWNER, PLAYERS))
  return its_players or owner or ''
end

-- has_player_twice reports whether a player is in two of the tickets KEYS[from] to KEYS[to].
local function has_player_twice(from, to)
  local seen = {}
  for i = from, to do
    for player in string.gmatch(names_of(KEYS[i]), '[^\n]+') do
      if seen[player] then
        return true
      end
      seen[player] = true
    end
  end
  return false
end
