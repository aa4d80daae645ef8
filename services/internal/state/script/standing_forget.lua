-- Takes a player out of the opponents of some players.
-- Full: runs
-- KEYS: ratings
-- ARGV: player, cursor, recent (what the line of opponents begins with; tabs are between them)
-- Result: the next cursor, '0' at the end
local found = redis.call('HSCAN', ratings, cursor, 'COUNT', 1000)
for i = 1, #found[2], 2 do
  local lines = found[2][i + 1]
  if string.find(lines, '\t' .. player, 1, true) then
    local kept = {}
    for line in string.gmatch(lines, '[^\n]+') do
      if string.sub(line, 1, #recent) == recent then
        local others = {}
        for id in string.gmatch(string.sub(line, #recent + 1), '[^\t]+') do
          if id ~= player then
            others[#others + 1] = id
          end
        end
        line = #others > 0 and recent .. table.concat(others, '\t') or nil
      end
      kept[#kept + 1] = line
    end
    redis.call('HSET', ratings, found[2][i], table.concat(kept, '\n'))
  end
end
return found[1]
