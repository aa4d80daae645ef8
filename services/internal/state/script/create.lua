-- Creates a group of tickets, in order, but for those that meet a limit.
-- KEYS: seq, feed, waiting, rates, then one ticket key each
-- ARGV: feed maxlen, limit of waiting tickets (0 = none), now in microseconds,
--       interval and burst of a player's bucket, interval and burst of the project's (interval 0 = no limit),
--       then id, created, owner, body of each
-- Result: feed position (0 when none was created), then for each that was not created:
--         its number from 0, 'waiting', 'player' or 'project', and in how many microseconds to come again (0 = unknown)
local limit, now = tonumber(ARGV[2]), tonumber(ARGV[3])
local player_interval, player_burst = tonumber(ARGV[4]), tonumber(ARGV[5])
local project_interval, project_burst = tonumber(ARGV[6]), tonumber(ARGV[7])
local room = math.huge
if limit > 0 then
  room = limit - redis.call('ZCARD', KEYS[3])
end
if player_interval + project_interval > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ARGV[3])
end
-- The project's bucket is read once and written once: two calls a ticket would be a quarter of what storing it takes.
local project = 0
if project_interval > 0 then
  project = math.max(now, tonumber(redis.call('ZSCORE', KEYS[4], 'project') or 0))
end
local fields, scores, result = {}, {}, {0}
for i = 1, #KEYS - 4 do
  local a = 4 * i + 4
  local id, created, owner, body = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local reason, after = nil, project + project_interval - now - project_burst
  if room < 1 then
    reason, after = 'waiting', 0
  elseif after > 0 then
    reason = 'project'
  else
    after = take(KEYS[4], 'player:' .. owner, now, player_interval, player_burst)
    if after > 0 then
      reason = 'player'
    end
  end
  if reason then
    result[#result + 1] = i - 1
    result[#result + 1] = reason
    result[#result + 1] = after
  else
    room, project = room - 1, project + project_interval
    redis.call('HSET', KEYS[4 + i], 's', 'w', 'c', created, 'o', owner, 'b', body)
    scores[#scores + 1] = created
    scores[#scores + 1] = id
    fields[#fields + 1] = '+' .. id
    fields[#fields + 1] = body
  end
end
if #fields > 0 then
  if project_interval > 0 then
    redis.call('ZADD', KEYS[4], project, 'project')
  end
  redis.call('ZADD', KEYS[3], unpack(scores))
  result[1] = feed(ARGV[1], fields)
end
return result
