-- Functions of ticket_create.lua for the buckets of a project and of its players. All buckets are read before the first
-- ticket and written after the last: calls for each ticket would take a third of the time that storing it takes.
--
-- The buckets are in two hashes, which take turns of at least the time in which a player's bucket fills: when a turn
-- begins, all buckets in its hash are full, and are deleted at once. Both hashes are read, since Redis's clock may jump
-- back when another server takes over. A hash has when its turn began, and the project's bucket, in fields that are no
-- player's. A project's bucket that takes longer to fill is in rates. They use time and rate.
-- Reads: rates, players_0, players_1, player_interval, player_burst, project_interval, project_burst
local per_player, player_most = tonumber(player_interval), tonumber(player_burst)
local per_project, project_most = tonumber(project_interval), tonumber(project_burst)
local PERIOD, PROJECT, turn = '\nperiod', '\nproject', math.max(player_most, 1e7)
local project_full, full, charged, players, begun, begins, ends = 0, {}, {}, nil, nil, nil, nil

-- read_buckets reads the buckets of these tickets.
local function read_buckets(tickets, now)
  if per_player + per_project == 0 then
    return
  end
  local wanted, before = {PERIOD, PROJECT}, nil
  players, before = in_turn(now, turn, players_0, players_1)
  begins, ends = to_text(now - now % turn), to_text((2 * turn - now % turn) / 1000)
  local function want(name)
    if not full[name] then
      full[name] = 0
      wanted[#wanted + 1] = name
    end
  end
  for _, t in ipairs(per_player > 0 and tickets or {}) do
    want(t.owner)
    for _, name in ipairs(t.names) do
      want(name)
    end
  end
  project_full = tonumber(project_most > turn and redis.call('HGET', rates, 'project') or 0)
  for turns, hash in ipairs({players, before}) do
    local stored = redis.call('HMGET', hash, unpack(wanted))
    if stored[1] and tonumber(stored[1]) < begins - (turns - 1) * turn then
      redis.call('UNLINK', hash)
      stored = {}
    end
    if hash == players then
      begun = stored[1]
    end
    project_full = bounded(math.max(project_full, tonumber(stored[2] or 0)), now, per_project, project_most)
    for i = 3, #wanted do
      local name = wanted[i]
      full[name] = math.max(full[name], bounded(tonumber(stored[i] or 0), now, per_player, player_most))
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
  if has_created and per_project > 0 and project_most > turn then
    redis.call('HSET', rates, 'project', to_text(project_full))
  elseif has_created and per_project > 0 then
    add(list, PROJECT, to_text(project_full))
  end
  if #list > 0 and begun ~= begins then
    redis.call('HSET', players, PERIOD, begins, unpack(list))
    redis.call('PEXPIRE', players, ends)
  elseif #list > 0 then
    redis.call('HSET', players, unpack(list))
  end
end
