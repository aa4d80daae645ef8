-- Functions of ticket_create.lua for the buckets of a project and of its players. All buckets are read before the first
-- ticket and written after the last: calls for each ticket would take a third of the time that storing it takes.
--
-- The buckets of players are in two hashes, which take turns. A period is as long as a bucket takes to fill, so at the
-- start of a period all buckets in its hash are full, and are deleted at once. Both hashes are read, since Redis's
-- clock may jump back when another server takes over. They use time and rate.
-- Reads: rates, players_0, players_1, player_interval, player_burst, project_interval, project_burst
local per_player, player_most = tonumber(player_interval), tonumber(player_burst)
local per_project, project_most = tonumber(project_interval), tonumber(project_burst)
local project_full, full, charged, players, period_begins, period_ends = 0, {}, {}, nil, nil, nil

-- read_buckets reads the buckets of these tickets.
local function read_buckets(tickets, now)
  if per_player + per_project == 0 then
    return
  end
  local stored = redis.call('HMGET', rates, 'project', 'period')
  project_full = bounded(tonumber(stored[1] or 0), now, per_project, project_most)
  if per_player == 0 then
    return
  end
  local last, period, before = tonumber(stored[2] or 0), math.max(player_most, 1e7), nil
  local start = now - now % period
  players, before = in_turn(now, period, players_0, players_1)
  if last < start then
    redis.call('UNLINK', players)
    if last < start - period then
      redis.call('UNLINK', before)
    end
  end
  if last < start or last > start + period then
    period_begins, period_ends = to_text(start), to_text((start + 2 * period - now) / 1000)
  end
  local wanted = {}
  local function want(name)
    if not full[name] then
      full[name] = 0
      wanted[#wanted + 1] = name
    end
  end
  for _, t in ipairs(tickets) do
    want(t.owner)
    for _, name in ipairs(t.names) do
      want(name)
    end
  end
  for _, hash in ipairs({players, before}) do
    for i, time in ipairs(redis.call('HMGET', hash, unpack(wanted))) do
      full[wanted[i]] = math.max(full[wanted[i]], bounded(tonumber(time or 0), now, per_player, player_most))
    end
  end
end

-- price_of returns what a ticket takes out of the project's bucket. One of more players than it holds takes all of it.
local function price_of(t)
  return math.min(per_project * #t.names, project_most)
end

-- wait_for_project returns how long to wait until the project may create a ticket.
local function wait_for_project(t, now)
  return per_project > 0 and wait_for(project_full, now, price_of(t), project_most) or 0
end

-- wait_for_players returns how long to wait until each player may create a ticket.
local function wait_for_players(names, now)
  local last = 0
  for _, name in ipairs(names) do
    last = math.max(last, full[name] or 0)
  end
  return per_player > 0 and wait_for(last, now, per_player, player_most) or 0
end

-- charge_players takes one out of the bucket of each player.
local function charge_players(names, now)
  if per_player > 0 then
    for _, name in ipairs(names) do
      full[name], charged[name] = math.max(now, full[name]) + per_player, true
    end
  end
end

-- charge_project takes a ticket out of the project's bucket.
local function charge_project(t, now)
  project_full = math.max(now, project_full) + price_of(t)
end

-- write_buckets writes the buckets. has_created reports whether tickets were created.
local function write_buckets(has_created)
  local list = {}
  for name in pairs(charged) do
    add(list, name, to_text(full[name]))
  end
  if #list > 0 then
    redis.call('HSET', players, unpack(list))
    if period_begins then
      redis.call('HSET', rates, 'period', period_begins)
      redis.call('PEXPIRE', players, period_ends)
    end
  end
  if has_created and per_project > 0 then
    redis.call('HSET', rates, 'project', to_text(project_full))
  end
end
