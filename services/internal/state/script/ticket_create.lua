-- Creates a group of tickets, in order, except tickets that meet a limit, and tickets that a request with the same
-- Idempotency-Key created before. A party's search is alone in its group, and the party is written with it.
-- Last come older_count pairs of keys, an older ticket of one of their players and the match that claimed it, and last
-- of the arguments the ids of each pair ('' = no match).
-- Full: refused
-- Uses: time, change, rate, large, listed, ended, acceptance, pause, buckets, request_keys, admission, player_limit,
--       encoding, body, standing, rated
-- KEYS: waiting, resolved, claims, settings, party, rates, players_0, players_1, keys_0, keys_1, queues, running,
--       ratings, rated, then ticket…
-- ARGV: waiting_limit, results_limit (0 = none), room_from, room_until (history positions between which neither is
--       met), player_interval, player_burst, project_interval, project_burst (in microseconds, an interval of 0 = no
--       limit), large_size (bytes of a body from which they count), bytes_limit (of all large bodies, 0 = none),
--       player_share (bytes of one, 0 = any), settings_revision (of the settings that the caller decided by),
--       party_read (the party's revision that the caller read, '' = no party), party_revision, party_body (of the party
--       with its search), heard_every (for how many milliseconds it is not noted again that a member was heard of),
--       event, replaced_event, listing (1 = list the tickets of each player), player_limit (how many a player may have
--       without a result, 0 = any), replaces ('1' = the oldest end for a new one), ends_told ('1' = the tickets' ends
--       are), told_time (for how many milliseconds an end is), first_pause, longest_pause (in milliseconds, 0 = players
--       that missed a match do not pause), key_period (for how many microseconds keys are remembered at least),
--       key_limit (how many, 0 = any), rating_slots (see rated.lua, '' = the tickets have no ratings), rated_limit (how
--       many players may have some), when_running (refuse, tell or '': what becomes of a ticket of a player in a match
--       without a result), count, older_count, then id, owner, body, its_players ('' = the owner), its_queues (with
--       spaces between, '' = they need not be served), key (digest of an Idempotency-Key, '' = none), request (its
--       digest)…
-- Result: feed position (0 when none was created), then for each ticket that was not created its number from 0, and
--         'waiting', 'results', 'player', 'project', 'bytes', 'share', 'keys', or 'paused ' or 'absent ' and which of
--         its players pauses (from 1), or did and was not heard of in the party since, and how many microseconds to
--         wait (0 = unknown); or 'again' and a ticket that its key created, 'other' and such a ticket of another
--         request, 'taken' and the ticket that its player has, 'unserved' and its queues that no config serves, or
--         'older' and tickets that must be among the older ones, both with spaces between, or 'playing' and a match of
--         a player; and for each ticket that replaced others its number, 'ended' and these, and for each whose player
--         is in a match its number, 'plays' and that match, where it is told; and where the limits were looked at
--         a position of the history, 'room' and for how many more none is met; {-1} when the project has other
--         settings, {-2} when the party is another one by now: then nothing was created
if (redis.call('HGET', settings, REVISION) or '0') ~= settings_revision then
  return {-1}
end
if party_read ~= '' and redis.call('HGET', party, VERSION) ~= party_read then
  return {-2}
end
local now, tickets = micros(), {}
local created = math.floor(now / 1000)
for n = 1, tonumber(count) do
  local a = first_arg + 7 * (n - 1)
  local t = {names = {ARGV[a + 1]}, ticket = KEYS[first_key + n - 1], id = ARGV[a], owner = ARGV[a + 1],
    body = ARGV[a + 2], its_players = ARGV[a + 3], its_queues = ARGV[a + 4], key = ARGV[a + 5], request = ARGV[a + 6]}
  if t.its_players ~= '' then
    t.names[1] = nil
    for name in string.gmatch(t.its_players, '[^\n]+') do
      table.insert(t.names, name)
    end
  end
  tickets[n] = t
end
read_buckets(tickets, now)
read_keys(tickets, now)
read_older()
rate(tickets, created)
local result, met = {0}, {[true] = 'waiting', [false] = 'results'}
if room_until - room_from <= tonumber(count) then look(nil, created, result) end -- positions cannot tell

-- admit returns why a ticket is not created, and a value; or nil and the older tickets that end for it.
local function admit(t)
  local limit, value = created_before(t)
  if limit then
    local wait = wait_for_players({t.owner}, now)
    if wait > 0 then
      return 'player', wait
    end
    charge_players({t.owner}, now)
    return limit, value
  end
  local project_wait, players_wait = wait_for_project(t, now), wait_for_players(t.names, now)
  if room < 1 then
    return met[readable], 0
  elseif t.key ~= '' and key_room < 1 then
    return 'keys', 0
  elseif project_wait > 0 then
    return 'project', project_wait
  elseif players_wait > 0 then
    return 'player', players_wait
  end
  limit, value = refuse_pausing(t, created)
  if not limit then
    limit, value = refuse_playing(t)
  end
  if not limit then
    limit, value = refuse_unserved(t, now)
  end
  if not limit then
    limit, value = make_room(t)
  end
  local refused = not limit and (refuse_large(t) or not is_room(tonumber(count), created, result) and met[readable])
  return refused or limit, refused and 0 or value
end

local changes, scores, ids, ended, told, deleted = {}, {}, {}, {}, {}, {}
for n, t in ipairs(tickets) do
  local limit, value = admit(t)
  if limit then
    result[#result + 1], result[#result + 2], result[#result + 3] = n - 1, limit, value
  else
    room = room - 1
    charge_project(t, now)
    charge_players(t.names, now)
    store(t, created)
    ids[#ids + 1] = t.id
    scores[2 * #ids - 1], scores[2 * #ids] = created, t.id
    show(changes, t.id, t.ticket, #t.body, t.body)
    note_key(t)
    for _, id in ipairs(value) do
      replace(id, changes, told, deleted)
      ended[#ended + 1] = id
    end
    enlist(t)
    begin_ratings(t, created)
    if t.plays then
      result[#result + 1], result[#result + 2], result[#result + 3] = n - 1, 'plays', t.plays
    end
    if #value > 0 then
      result[#result + 1], result[#result + 2], result[#result + 3] = n - 1, 'ended', table.concat(value, ' ')
    end
  end
end
write_buckets(#ids > 0)
if #ids > 0 then
  write_large()
  write_keys()
  redis.call('ZADD', waiting, unpack(scores))
  if party_read ~= '' then
    redis.call('HSET', party, BODY, party_body, VERSION, party_revision)
  end
  local events = {event, table.concat(ids, ' ')}
  if #ended > 0 then
    release(deleted)
    keep_ends(told, created)
    events[3], events[4] = replaced_event, table.concat(ended, ' ')
  end
  append_history(events, #ids + #ended)
  result[1] = append_feed(changes)
elseif taken > 0 then
  take_positions(-taken)
end
return result
