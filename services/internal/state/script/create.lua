-- Creates a group of tickets, in order, but for those that meet a limit.
-- KEYS: seq, feed, told, history, waiting, rates, players:0, players:1, then one ticket key each
-- ARGV: feed and history kept, limit of waiting tickets (0 = none), now in microseconds,
--       interval and burst of a player's bucket, interval and burst of the project's (interval 0 = no limit),
--       event, then id, created, owner, body of each
-- Result: feed position (0 when none was created), then for each that was not created:
--         its number from 0, 'waiting', 'player' or 'project', and in how many microseconds to come again (0 = unknown)
local limit, now = tonumber(ARGV[3]), tonumber(ARGV[4])
local player_interval, player_burst = tonumber(ARGV[5]), tonumber(ARGV[6])
local project_interval, project_burst = tonumber(ARGV[7]), tonumber(ARGV[8])
local room = math.huge
if limit > 0 then
  room = limit - redis.call('ZCARD', KEYS[5])
end
-- All buckets are read before the first ticket and written after the last: calls for each ticket would
-- be a third of what storing it takes.
local rates = {}
if player_interval + project_interval > 0 then
  rates = redis.call('HMGET', KEYS[6], 'project', 'period')
end
local project = tonumber(rates[1] or 0)

-- Players' buckets lie in two hashes, one for every other period: a period is as long as a bucket takes to fill,
-- so that those of the last but one are full, and go all at once. Both are asked, since clocks of replicas differ.
local full, taken, this = {}, {}, nil
if player_interval > 0 then
  local period = math.max(player_burst, 1e7)
  local start = now - now % period
  local n = math.floor(now / period) % 2
  this = KEYS[7 + n]
  local before, last = KEYS[8 - n], tonumber(rates[2] or 0)
  if last < start then
    redis.call('UNLINK', this)
    if last < start - period then
      redis.call('UNLINK', before)
    end
    redis.call('HSET', KEYS[6], 'period', text(start))
  end
  local owners = {}
  for a = 12, #ARGV, 4 do
    if not full[ARGV[a]] then
      full[ARGV[a]] = 0
      owners[#owners + 1] = ARGV[a]
    end
  end
  for _, key in ipairs({this, before}) do
    for i, time in ipairs(redis.call('HMGET', key, unpack(owners))) do
      full[owners[i]] = math.max(full[owners[i]], tonumber(time or 0))
    end
  end
end

local fields, scores, ids, result = {}, {}, {}, {0}
for i = 1, #KEYS - 8 do
  local a = 4 * i + 6
  local id, created, owner, body = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3]
  local reason, wait = nil, 0
  if project_interval > 0 then
    wait = after(project, now, project_interval, project_burst)
  end
  if room < 1 then
    reason, wait = 'waiting', 0
  elseif wait > 0 then
    reason = 'project'
  elseif player_interval > 0 then
    wait = after(full[owner], now, player_interval, player_burst)
    if wait > 0 then
      reason = 'player'
    end
  end
  if reason then
    result[#result + 1] = i - 1
    result[#result + 1] = reason
    result[#result + 1] = wait
  else
    room, project = room - 1, math.max(now, project) + project_interval
    if player_interval > 0 then
      full[owner] = math.max(now, full[owner]) + player_interval
      taken[owner] = true
    end
    redis.call('HSET', KEYS[8 + i], 's', 'w', 'c', created, 'o', owner, 'b', body)
    scores[#scores + 1] = created
    scores[#scores + 1] = id
    fields[#fields + 1] = '+' .. id
    fields[#fields + 1] = body
    ids[#ids + 1] = id
  end
end
if #ids > 0 then
  if project_interval > 0 then
    redis.call('HSET', KEYS[6], 'project', text(project))
  end
  if player_interval > 0 then
    local buckets = {}
    for owner in pairs(taken) do
      buckets[#buckets + 1] = owner
      buckets[#buckets + 1] = text(full[owner])
    end
    redis.call('HSET', this, unpack(buckets))
  end
  redis.call('ZADD', KEYS[5], unpack(scores))
  tell({ARGV[9], table.concat(ids, ' ')}, #ids)
  result[1] = feed(fields)
end
return result
