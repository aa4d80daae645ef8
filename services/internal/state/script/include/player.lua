-- Functions of scripts that put tickets into one match.

-- has_player_twice tells whether a player is in two of the tickets whose keys are these of KEYS.
local function has_player_twice(from, to)
  local seen = {}
  for i = from, to do
    local owner, its_players = unpack(redis.call('HMGET', KEYS[i], OWNER, PLAYERS))
    for player in string.gmatch(its_players or owner or '', '[^\n]+') do
      if seen[player] then
        return true
      end
      seen[player] = true
    end
  end
  return false
end
