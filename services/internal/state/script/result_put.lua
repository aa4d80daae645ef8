-- Writes the result of a match, or a correction, and what comes of it for ratings: in one step, if the match and the
-- ratings are what the caller computed with.
-- Full: runs
-- Uses: time, change, result, pause
-- KEYS: result, awaited, ratings, rated
-- ARGV: match_id, read (the version that the caller read), body, memory (for how many milliseconds after the first
--       result corrections are taken), event, rated_limit (how many players may have ratings), leavers (with newlines
--       between), first_pause, longest_pause (in milliseconds, 0 = they do not pause), pause_limit, then player, its
--       ratings as the caller read them ('' = none), and as they are now…
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
for a = first_arg, #ARGV, 3 do
  if (redis.call('HGET', ratings, ARGV[a]) or '') ~= ARGV[a + 1] then
    return 'changed'
  end
end
first = first or now
redis.call('HSET', result, BODY, body, VERSION, (version or 0) + 1, FIRST_TRY, first)
redis.call('ZADD', awaited, first + memory, match_id)
end_running(lineup, match_id)
for a = first_arg, #ARGV, 3 do
  local is_known = ARGV[a + 1] ~= ''
  if is_known or redis.call('ZCARD', rated) < tonumber(rated_limit) then
    redis.call('HSET', ratings, ARGV[a], ARGV[a + 2])
    redis.call('ZADD', rated, now, ARGV[a])
  end
end
local left = {}
for name in string.gmatch(leavers, '[^\n]+') do
  left[#left + 1] = name
end
pause(left, now)
append_history({event, ''}, 0)
return 'ok'
