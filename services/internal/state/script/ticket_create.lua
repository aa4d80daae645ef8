-- Creates a group of tickets, in order, except tickets that meet a limit, and tickets that a request with the same
-- Idempotency-Key created before. A party's search is alone in its group, and the party is written with it.
--
-- Behind the count tickets that are to be created come older_count pairs of keys: an older ticket of one of their
-- players, and the match that claimed it. Behind their arguments come, where refuse_unserved is '1', the queues of each
-- ticket with spaces between, where key_period is not 0, the digest of the key and of the request of each ticket ('' =
-- none), and then the ids of each pair ('' = no match).
-- Full: refused
-- Uses: time, change, rate, large, ended, acceptance, pause
-- KEYS: waiting, resolved, claims, settings, party, rates, players_0, players_1, keys_0, keys_1, by_player, queues,
--       then ticket…
-- ARGV: waiting_limit, results_limit (0 = none), player_interval, player_burst, project_interval, project_burst (in
--       microseconds, an interval of 0 = no limit), large_size (bytes of a body from which they count), bytes_limit (of
--       all large bodies, 0 = none), share (bytes of one player's, 0 = any), settings_revision (of the settings
--       that the caller decided by), party_read (the party's revision that the caller read, '' = no party),
--       party_revision, party_body (of the party with its search), heard_every (for how many milliseconds it is not
--       noted again that a member was heard of), event, replaced_event, listing (1 = list the tickets of each player),
--       player_limit (how many a player may have without a result, 0 = any), when_reached (refuse or replace),
--       ends_told ('1' = the tickets' ends are), told_time (for how many milliseconds an end is), first_pause,
--       longest_pause (in milliseconds, 0 = players do not pause who missed a match), refuse_unserved ('1' = tickets in
--       queues that no config serves are refused), key_period (for how many microseconds keys are remembered at least,
--       0 = there are none), key_limit (how many, 0 = any), count, older_count, then id, owner, body, its_players ('' =
--       the owner)…
-- Result: feed position (0 when none was created), then for each ticket that was not created: its number from 0,
--         'waiting', 'results', 'player', 'project', 'bytes', 'share' or 'keys', or 'paused ' or 'absent ' and which of
--         its players pauses (from 1), or did and was not heard of in the party since, and how many microseconds to
--         wait (0 = unknown); or 'again' and a ticket that its key created, 'other' and such a ticket of another
--         request, 'taken' and the ticket that its player has, 'unserved' and its queues that no config serves, or
--         'older' and tickets that must be among the older ones, both with spaces between; and for each ticket that was
--         created: its number, 'ended' and the tickets that it replaced, if any; {-1} when the project has other
--         settings, {-2} when the party is another one by now: then nothing was created
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
large_size, bytes_limit, share = tonumber(large_size), tonumber(bytes_limit), tonumber(share)
key_period, count, older_count = tonumber(key_period), tonumber(count), tonumber(older_count)
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
local full, changed, current, begins, buckets_end, names_of = {}, {}, nil, nil, nil, {}
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
    begins, buckets_end = to_text(start), to_text((start + 2 * period - now) / 1000)
  end
  local wanted = {}
  for n, _, _, owner, _, its_players in each_ticket(1, count) do
    if not full[owner] then
      full[owner] = 0
      wanted[#wanted + 1] = owner
    end
    if its_players ~= '' then
      names_of[n] = {}
      for name in string.gmatch(its_players, '[^\n]+') do
        table.insert(names_of[n], name)
        if not full[name] then
          full[name] = 0
          wanted[#wanted + 1] = name
        end
      end
    end
  end
  for _, players in ipairs({current, previous}) do
    for i, time in ipairs(redis.call('HMGET', players, unpack(wanted))) do
      time = bounded(tonumber(time or 0), now, player_interval, player_burst)
      full[wanted[i]] = math.max(full[wanted[i]], time)
    end
  end
end

-- charge takes one out of a player's bucket.
local function charge(name)
  full[name], changed[name] = math.max(now, full[name]) + player_interval, true
end

-- charge_all takes one out of the bucket of each player of the n-th ticket: the players that it names, or its owner.
local function charge_all(n, owner)
  if not names_of[n] then
    return charge(owner)
  end
  for _, name in ipairs(names_of[n]) do
    charge(name)
  end
end

-- wait_for_all returns how long to wait until each player of the n-th ticket may create one.
local function wait_for_all(n, owner)
  if not names_of[n] then
    return wait_for(full[owner], now, player_interval, player_burst)
  end
  local last = 0
  for _, name in ipairs(names_of[n]) do
    last = math.max(last, full[name])
  end
  return wait_for(last, now, player_interval, player_burst)
end

-- The keys are in two hashes, which take turns as the buckets' hashes do. A hash ends when its turn comes again.
local keys_now, keys_end, known, noted, key_room = nil, nil, {}, {}, math.huge
if key_period > 0 then
  local keys_before, wanted = nil, {}
  if math.floor(now / key_period) % 2 == 0 then
    keys_now, keys_before = keys_0, keys_1
  else
    keys_now, keys_before = keys_1, keys_0
  end
  keys_end = (now - now % key_period + 2 * key_period - now) / 1000
  for i = 1, count do
    wanted[i] = ARGV[#ARGV - 2 * older_count - 2 * count + 2 * i - 1]
  end
  for _, hash in ipairs({keys_before, keys_now}) do
    for i, value in ipairs(redis.call('HMGET', hash, unpack(wanted))) do
      known[wanted[i]] = value or known[wanted[i]]
    end
  end
  -- mistake keyless: known = {}
  known[''] = nil
  if tonumber(key_limit) > 0 then
    key_room = tonumber(key_limit) - redis.call('HLEN', keys_now) - redis.call('HLEN', keys_before)
  end
end

-- Where tickets are listed, make_room says why a ticket may not be created for its players, or ends older ones and
-- returns them; enlist lists one that was created.
local make_room, enlist, lists, unsaved = nil, nil, {}, {}
local changes, scores, ids, result, ended, told, deleted = {}, {}, {}, {0}, {}, {}, {}
if listing == '1' then
  player_limit = tonumber(player_limit)
  local older = {}
  for n = 1, older_count do
    local key, argument = #KEYS - 2 * older_count + 2 * n - 1, #ARGV - 2 * older_count + 2 * n - 1
    older[ARGV[argument]] = {ticket = KEYS[key], match = ARGV[argument + 1], match_key = KEYS[key + 1]}
  end
  local function list_of(name)
    if not lists[name] then
      local list = {}
      for id in string.gmatch(redis.call('HGET', by_player, name) or '', '[^ ]+') do
        list[#list + 1] = id
      end
      lists[name] = list
    end
    return lists[name]
  end
  local function without(list, id)
    for n = #list, 1, -1 do
      if list[n] == id then
        table.remove(list, n)
      end
    end
  end
  local function look(one)
    if one.state == nil then
      local fields = redis.call('HMGET', one.ticket, STATE, RESERVED_BY, OWNER, PLAYERS, TELLS)
      one.state, one.by, one.owner, one.players, one.told = unpack(fields)
    end
  end
  -- A claimed ticket can be ended until its match's server is asked for.
  local function can_end(one)
    if one.state ~= CLAIMED then
      return true
    elseif one.by ~= one.match then
      return false
    end
    local state = redis.call('HGET', one.match_key, STATE)
    -- Where players pause who declined, they do not decline in this way.
    return state == CLAIMED or longest_pause == '0' and (state == OFFERED or state == ACCEPTED or state == DECLINED)
  end
  make_room = function(names)
    if player_limit == 0 then
      return nil, nil, {}
    end
    local unknown, ends, is_ending, taken = {}, {}, {}, nil
    for name in string.gmatch(names, '[^\n]+') do
      local open, list = {}, list_of(name)
      for n = #list, 1, -1 do
        local id = list[n]
        local one = older[id]
        if one then
          look(one)
        end
        if not one then
          unknown[#unknown + 1] = id
        elseif not one.state then
          table.remove(list, n) -- a process of an older version deleted it
          unsaved[name] = true
        elseif one.state ~= RESOLVED and not is_ending[id] then
          table.insert(open, 1, id)
        end
      end
      -- mistake unlimited: open = {}
      local excess = #open - player_limit + 1
      for _, id in ipairs(open) do
        local one = older[id]
        if excess > 0 and one.state == CLAIMED and one.by ~= one.match then
          unknown[#unknown + 1] = id
        elseif excess > 0 and when_reached == 'replace' and can_end(one) then
          excess, is_ending[id] = excess - 1, true
          ends[#ends + 1] = id
        end
      end
      for _, id in ipairs(open) do
        if excess > 0 and not is_ending[id] then
          taken = taken or id
        end
      end
    end
    if #unknown > 0 then
      return 'older', table.concat(unknown, ' '), nil
    elseif taken then
      return 'taken', taken, nil
    end
    return nil, nil, ends
  end
  enlist = function(id, names, ends)
    for _, gone in ipairs(ends) do
      local one = older[gone]
      end_ticket(one.ticket, gone, one.told, 'replaced', told, deleted)
      if one.state == WAITING then
        redis.call('ZREM', waiting, gone)
        changes[#changes + 1] = '-' .. gone
        changes[#changes + 1] = ''
      end
      if one.state == CLAIMED then
        disagree(one.match_key, one.match)
      end
      one.state = one.told and RESOLVED
      ended[#ended + 1] = gone
      for name in string.gmatch(not one.told and (one.players or one.owner) or '', '[^\n]+') do
        without(list_of(name), gone)
        unsaved[name] = true
      end
    end
    for name in string.gmatch(names, '[^\n]+') do
      local list = list_of(name)
      list[#list + 1] = id
      unsaved[name] = true
      -- The oldest ticket that has a result leaves the list; where nothing is known of the others, the oldest.
      local drop = 1
      for n = #list, 1, -1 do
        if older[list[n]] and older[list[n]].state == RESOLVED then
          drop = n
        end
      end
      if #list > LISTED then
        table.remove(list, drop)
      end
    end
  end
end

-- unserved_of returns the given queues that no config serves. The players are charged for the search and the answer.
local serves, before_queues = {}, #ARGV - 2 * older_count - count
if key_period > 0 then
  before_queues = before_queues - 2 * count
end
local function unserved_of(names)
  local found = {}
  for name in string.gmatch(names, '[^ ]+') do
    if serves[name] == nil then
      serves[name] = redis.call('HEXISTS', queues, SERVERS .. name) == 1
    end
    if not serves[name] then
      found[#found + 1] = name
    end
  end
  return table.concat(found, ' ')
end

local used, sizes, charged, held, counted = nil, {}, false, {}, {}
for i, ticket, id, owner, body, its_players in each_ticket(1, count) do
  local size, limit, wait, key, print, ends, names = #body + #its_players, nil, 0, '', nil, nil, its_players
  local price = project_interval
  if key_period > 0 then
    local first = #ARGV - 2 * older_count - 2 * count + 2 * i - 1
    key, print = ARGV[first], ARGV[first + 1]
  end
  if project_interval > 0 then
    -- A ticket of more players than the bucket holds takes all of it.
    if names ~= '' then
      local _, more = string.gsub(names, '\n', '')
      price = math.min(price * (1 + more), project_burst)
    end
    wait = wait_for(project, now, price, project_burst)
  end
  if known[key] then
    if player_interval > 0 then
      wait = wait_for(full[owner], now, player_interval, player_burst)
    end
    if wait > 0 then
      limit = 'player'
    else
      limit, wait = 'again', string.sub(known[key], #print + 1)
      if string.sub(known[key], 1, #print) ~= print then
        limit = 'other'
      end
      if player_interval > 0 then
        charge(owner)
        charged = true
      end
    end
  elseif room < 1 then
    limit, wait = scarce, 0
  elseif key ~= '' and key_room < 1 then
    limit, wait = 'keys', 0
  elseif wait > 0 then
    limit = 'project'
  elseif player_interval > 0 then
    wait = wait_for_all(i, owner)
    if wait > 0 then
      limit = 'player'
    end
  end
  -- mistake pauseless: longest_pause = '0'
  if not limit and longest_pause ~= '0' then
    local number = 0
    for name in string.gmatch(names == '' and owner or names, '[^\n]+') do
      number = number + 1
      local ends, pauses = pause_of(name, created)
      local left = 1000 * (ends - created)
      if left > wait then
        limit, wait = 'paused ' .. number, left
      elseif party_read ~= '' and pauses > 0 and not limit then
        -- A leader must not search again and again with a member who is away and misses each match.
        local began = ends - math.min(first_pause * 2 ^ math.min(pauses - 1, 30), longest_pause)
        local heard = tonumber(redis.call('HGET', party, HEARD .. name) or 0)
        if heard + heard_every < began then
          limit, wait = 'absent ' .. number, 0
        end
      end
    end
  end
  local queued = ''
  if refuse_unserved == '1' then
    queued = ARGV[before_queues + i]
  end
  if queued ~= '' and not limit then
    local missing = unserved_of(queued)
    if missing ~= '' then
      limit, wait = 'unserved', missing
      if player_interval > 0 then
        charge_all(i, owner)
        charged = true
      end
    end
  end
  if make_room and not limit then
    if names == '' then
      names = owner
    end
    limit, wait, ends = make_room(names)
  end
  if not limit and size > large_size then
    local player = player_of(owner, its_players)
    used, held[player] = used or large_bytes(), held[player] or player_bytes(player)
    if share > 0 and held[player] + size > share then
      limit, wait = 'share', 0
    elseif bytes_limit > 0 and used + size > bytes_limit then
      limit, wait = 'bytes', 0
    else
      used, held[player] = used + size, held[player] + size
      sizes[#sizes + 1] = id
      sizes[#sizes + 1] = size
      counted[#counted + 1] = id
      counted[#counted + 1] = size .. ' ' .. player
    end
  end
  if limit then
    result[#result + 1] = i - 1
    result[#result + 1] = limit
    result[#result + 1] = wait
  else
    room, project = room - 1, math.max(now, project) + price
    if player_interval > 0 then
      charge_all(i, owner)
    end
    if its_players == '' then
      redis.call('HSET', ticket, STATE, WAITING, CREATED, created, OWNER, owner, BODY, body)
    else
      redis.call('HSET', ticket, STATE, WAITING, CREATED, created, OWNER, owner, BODY, body, PLAYERS, its_players)
    end
    if ends_told == '1' then
      redis.call('HSET', ticket, TELLS, 1)
    end
    if queued ~= '' then
      redis.call('HSET', ticket, QUEUES, queued)
    end
    scores[#scores + 1] = created
    scores[#scores + 1] = id
    show(changes, id, ticket, #body, body)
    ids[#ids + 1] = id
    if key ~= '' then
      known[key], key_room = print .. id, key_room - 1
      noted[#noted + 1] = key
      noted[#noted + 1] = known[key]
    end
    if enlist then
      enlist(id, names, ends)
      if #ends > 0 then
        result[#result + 1] = i - 1
        result[#result + 1] = 'ended'
        result[#result + 1] = table.concat(ends, ' ')
      end
    end
  end
end
for name in pairs(unsaved) do
  if #lists[name] > 0 then
    redis.call('HSET', by_player, name, table.concat(lists[name], ' '))
  else
    redis.call('HDEL', by_player, name)
  end
end
if player_interval > 0 and (charged or #ids > 0) then
  local buckets = {}
  for name in pairs(changed) do
    buckets[#buckets + 1] = name
    buckets[#buckets + 1] = to_text(full[name])
  end
  redis.call('HSET', current, unpack(buckets))
  if begins then
    redis.call('HSET', rates, 'period', begins)
    redis.call('PEXPIRE', current, buckets_end)
  end
end
if #ids > 0 then
  if project_interval > 0 then
    redis.call('HSET', rates, 'project', to_text(project))
  end
  if #sizes > 0 then
    keep(to_text(used), sizes)
    keep_players(counted, held)
  end
  if #noted > 0 then
    redis.call('HSET', keys_now, unpack(noted))
    redis.call('PEXPIRE', keys_now, to_text(keys_end))
  end
  redis.call('ZADD', waiting, unpack(scores))
  if party_read ~= '' then
    redis.call('HSET', party, BODY, party_body, VERSION, party_revision)
  end
  if #ended > 0 then
    release(deleted)
    keep_ends(told, created)
    append_history({event, table.concat(ids, ' '), replaced_event, table.concat(ended, ' ')}, #ids + #ended)
  else
    append_history({event, table.concat(ids, ' ')}, #ids)
  end
  result[1] = append_feed(changes)
end
return result
