-- Functions of scripts for matches whose results are awaited. Such a match has a hash: RECORD, what is known of it,
-- PLAYERS, its lineup, and CREATED, when it began; later BODY, its result, VERSION, how often it changed, and
-- FIRST_TRY, when the first one came. The lineup has for each ticket, with form feeds between, the team, a tab, the
-- ticket, and the players, each after a newline; for a team whose tickets have all left, its name and a tab. The hash
-- running has the match of each player. They use player.
-- KEYS: awaited, running

-- await_result notes that the result of a match is awaited. awaits is what the caller knows of it (awaitsOf in
-- result.go). KEYS[before + j] is its j-th ticket, which is in the match if flags[j] is not '0'. Players that join a
-- game are added to the lineup of its match, if that has no result.
local function await_result(key, awaits, before, ids, flags, now)
  local time, id, limit, is_joining, teams, record = string.match(awaits, '^(%d+) (%S+) (%d+) (%d)\f([^\f]*)\f(.*)$')
  local stored, result = unpack(redis.call('HMGET', key, PLAYERS, BODY))
  if is_joining == '1' and (not stored or result)
    or is_joining == '0' and redis.call('ZCARD', awaited) >= tonumber(limit) then
    return
  end
  local lineup, j = {is_joining == '1' and stored or nil}, 0
  for count, team in string.gmatch(teams, '(%d+) ([^\n]*)\n') do
    local others = #lineup
    for _ = 1, tonumber(count) do
      j = j + 1
      if flags[j] ~= '0' then
        local names, play = names_of(KEYS[before + j]), {}
        lineup[#lineup + 1] = team .. '\t' .. ids[j] .. '\n' .. names
        for name in string.gmatch(names, '[^\n]+') do
          play[#play + 1], play[#play + 2] = name, id
        end
        redis.call('HSET', running, unpack(play))
      end
    end
    if #lineup == others and is_joining == '0' then
      lineup[#lineup + 1] = team .. '\t'
    end
  end
  redis.call('HSET', key, PLAYERS, table.concat(lineup, '\f'))
  if is_joining == '0' then
    redis.call('HSET', key, RECORD, record, CREATED, now)
    redis.call('ZADD', awaited, now + time, id)
  end
end

-- end_running notes that players of a lineup do not play a match any more.
local function end_running(lineup, id)
  for ticket in string.gmatch(lineup or '', '[^\f]+') do
    for name in string.gmatch(string.match(ticket, '\n(.*)') or '', '[^\n]+') do
      if redis.call('HGET', running, name) == id then
        redis.call('HDEL', running, name)
      end
    end
  end
end
