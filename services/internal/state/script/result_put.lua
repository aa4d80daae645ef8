-- Writes the result of a match, or a correction, and what comes of it for ratings: in one step, if the match and the
-- ratings are what the caller computed with.
-- Full: runs
-- Uses: time, change, result, pause
-- KEYS: result, awaited, ratings, rated, steps, boards, then board… (of each name in board_names)
-- ARGV: match_id, read (the version that the caller read), body, memory (for how many milliseconds after the first
--       result corrections are taken), event, rated_limit (how many players may have ratings), age (for how many
--       milliseconds after a match they are kept), most (how many players a leaderboard has), board_names (with spaces
--       between; one after '!' goes), leavers (with newlines between), first_pause, longest_pause (in milliseconds, 0 =
--       they do not pause), pause_limit, then player, its ratings as the caller read them ('' = none), and as they are
--       now, its steps by the result before ('' = none), and by this one, its value in each leaderboard that stays
--       ('-' = it is in none; behind 'i', by how much it changes there if it is in it)…
-- Result: 'ok'; or 'gone' (no result of it is awaited), 'final' (it is too late for a correction) or 'changed' (the
--         match or a rating is not what the caller read): then nothing is written
local lineup, version, first = unpack(redis.call('HMGET', result, PLAYERS, VERSION, FIRST_TRY))
local now = millis()
if not lineup then
  return 'gone'
elseif (version or '0') ~= read then
  return 'changed'
elseif first and now > first + memory then
  return 'final'
end
for a = first_arg, #ARGV, 6 do
  if (redis.call('HGET', ratings, ARGV[a]) or '') ~= ARGV[a + 1] then
    return 'changed'
  end
end
first = first or now
redis.call('HSET', result, BODY, body, VERSION, (version or 0) + 1, FIRST_TRY, first)
redis.call('ZADD', awaited, first + memory, match_id)
end_running(lineup, match_id)

local key, open, names = first_key, {}, {}
for gone, name in string.gmatch(board_names, '(!?)(%S+)') do
  if gone == '' then
    open[#open + 1], names[#names + 1] = KEYS[key], name
  else
    redis.call('DEL', KEYS[key])
    redis.call('ZREM', boards, name)
  end
  key = key + 1
end

-- note_steps keeps what a player's last 32 matches did to ratings. A correction stays in its place.
local function note_steps(player, was, is)
  if was == is then
    return
  end
  local kept = redis.call('HGET', steps, player)
  if was == '' then
    kept = is .. (kept and '\n\n' .. kept or '')
    local last = -1
    for _ = 1, 32 do
      last = last and string.find(kept, '\n\n', last + 2, true)
    end
    redis.call('HSET', steps, player, last and string.sub(kept, 1, last - 1) or kept)
    return
  end
  local all = {}
  for step in string.gmatch((kept or '') .. '\n\n', '(.-)\n\n') do
    if step == was then
      step = is
    end
    if step ~= '' then
      all[#all + 1] = step
    end
  end
  if #all > 0 then
    redis.call('HSET', steps, player, table.concat(all, '\n\n'))
  else
    redis.call('HDEL', steps, player)
  end
end

for a = first_arg, #ARGV, 6 do
  local player = ARGV[a]
  if ARGV[a + 1] ~= '' or redis.call('ZCARD', rated) < tonumber(rated_limit) then
    redis.call('HSET', ratings, player, ARGV[a + 2])
    redis.call('ZADD', rated, now, player)
    note_steps(player, ARGV[a + 3], ARGV[a + 4])
    local b = 0
    for value in string.gmatch(ARGV[a + 5], '%S+') do
      b = b + 1
      if value == '-' then
        redis.call('ZREM', open[b], player)
      elseif string.sub(value, 1, 1) == 'i' then
        redis.call('ZADD', open[b], 'XX', 'INCR', string.sub(value, 2), player)
      else
        redis.call('ZADD', open[b], value, player)
      end
    end
  end
end
for b, board in ipairs(open) do
  redis.call('ZREMRANGEBYRANK', board, 0, -1 - most)
  redis.call('PEXPIRE', board, age)
  redis.call('ZADD', boards, now, names[b])
  redis.call('PEXPIRE', boards, age)
end
local left = {}
for name in string.gmatch(leavers, '[^\n]+') do
  left[#left + 1] = name
end
pause(left, now)
append_history({event, ''}, 0)
return 'ok'
