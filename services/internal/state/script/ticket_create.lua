-- Creates a group of tickets, in order, except those that meet a limit. One that is the search of a party is alone in
-- its group, and the party is written with it.
-- Full: refused
-- Uses: time, change, rate, large
-- KEYS: waiting, settings, party, rates, players_0, players_1, then ticket…
-- ARGV: waiting_limit, results_limit (0 = none), player_interval, player_burst, project_interval, project_burst (in
--       microseconds, an interval of 0 = no limit), large_size (bytes of a body from which they count), bytes_limit (of
--       all large bodies, 0 = none), settings_revision (of the settings that the caller decided by), party_read (the
--       party's revision that the caller read, '' = no party), party_revision, party_body (of the party with its
--       search), event, then id, owner, body, its_players ('' = the owner)…
-- Result: feed position (0 when none was created), then for each ticket that was not created: its number from 0,
--         'waiting', 'results', 'player', 'project' or 'bytes', and how many microseconds to wait (0 = unknown);
--         {-1} when the project has other settings, {-2} when the party is another one by now: nothing was created then
if (redis.call('HGET', settings, REVISION) or '0') ~= settings_revision then
  return {-1}
end
if party_read ~= '' and redis.call('HGET', party, VERSION) ~= party_read then
  return {-2}
end
local now = micros()
local created = math.floor(now / 1000)
waiting_limit, results_limit = tonumber(waiting_limit), tonumber(results_limit)
player_interval, player_burst = tonumber(player_interval), tonumber(player_burst)
project_interval, project_burst = tonumber(project_interval), tonumber(project_burst)
large_size, bytes_limit = tonumber(large_size), tonumber(bytes_limit)
local room = math.huge
if waiting_limit > 0 then
  room = waiting_limit - redis.call('ZCARD', waiting)
end
local scarce = 'waiting'
if results_limit > 0 and kept_results(created) >= results_limit then
  room, scarce = 0, 'results'
end
-- All buckets are read before the first ticket and written after the last: calls for each ticket would take a third of
-- the time that storing it takes.
local project, last = 0, 0
if player_interval + project_interval > 0 then
  local stored = redis.call('HMGET', rates, 'project', 'period')
  project, last = bounded(tonumber(stored[1] or 0), now, project_interval, project_burst), tonumber(stored[2] or 0)
end

-- The buckets of players are in two hashes, which take turns. A period is as long as a bucket takes to fill, so at the
-- start of a period all buckets in its hash are full, and are deleted at once. Both hashes are read, since Redis's
-- clock may jump back when another server takes over.
local full, changed, current = {}, {}, nil
if player_interval > 0 then
  local period, previous = math.max(player_burst, 1e7), nil
  local start = now - now % period
  if math.floor(now / period) % 2 == 0 then
    current, previous = players_0, players_1
  else
    current, previous = players_1, players_0
  end
  if last < start then
    redis.call('UNLINK', current)
    if last < start - period then
      redis.call('UNLINK', previous)
    end
  end
  if last < start or last > start + period then
    redis.call('HSET', rates, 'period', to_text(start))
  end
  local owners = {}
  for _, _, _, owner in each_ticket() do
    if not full[owner] then
      full[owner] = 0
      owners[#owners + 1] = owner
    end
  end
  for _, players in ipairs({current, previous}) do
    for i, time in ipairs(redis.call('HMGET', players, unpack(owners))) do
      time = bounded(tonumber(time or 0), now, player_interval, player_burst)
      full[owners[i]] = math.max(full[owners[i]], time)
    end
  end
end

local used, sizes = nil, {}
local changes, scores, ids, result = {}, {}, {}, {0}
for i, ticket, id, owner, body, its_players in each_ticket() do
  local size, limit, wait = #body + #its_players, nil, 0
  if project_interval > 0 then
    wait = wait_for(project, now, project_interval, project_burst)
  end
  if room < 1 then
    limit, wait = scarce, 0
  elseif wait > 0 then
    limit = 'project'
  elseif player_interval > 0 then
    wait = wait_for(full[owner], now, player_interval, player_burst)
    if wait > 0 then
      limit = 'player'
    end
  end
  if not limit and size > large_size then
    used = used or large_bytes()
    if bytes_limit > 0 and used + size > bytes_limit then
      limit, wait = 'bytes', 0
    else
      used = used + size
      sizes[#sizes + 1] = id
      sizes[#sizes + 1] = size
    end
  end
  if limit then
    result[#result + 1] = i - 1
    result[#result + 1] = limit
    result[#result + 1] = wait
  else
    room, project = room - 1, math.max(now, project) + project_interval
    if player_interval > 0 then
      full[owner] = math.max(now, full[owner]) + player_interval
      changed[owner] = true
    end
    if its_players == '' then
      redis.call('HSET', ticket, STATE, WAITING, CREATED, created, OWNER, owner, BODY, body)
    else
      redis.call('HSET', ticket, STATE, WAITING, CREATED, created, OWNER, owner, BODY, body, PLAYERS, its_players)
    end
    scores[#scores + 1] = created
    scores[#scores + 1] = id
    show(changes, id, ticket, #body, body)
    ids[#ids + 1] = id
  end
end
if #ids > 0 then
  if project_interval > 0 then
    redis.call('HSET', rates, 'project', to_text(project))
  end
  if player_interval > 0 then
    local buckets = {}
    for owner in pairs(changed) do
      buckets[#buckets + 1] = owner
      buckets[#buckets + 1] = to_text(full[owner])
    end
    redis.call('HSET', current, unpack(buckets))
  end
  if #sizes > 0 then
    keep(to_text(used), sizes)
  end
  redis.call('ZADD', waiting, unpack(scores))
  if party_read ~= '' then
    redis.call('HSET', party, BODY, party_body, VERSION, party_revision)
  end
  append_history({event, table.concat(ids, ' ')}, #ids)
  result[1] = append_feed(changes)
end
return result
