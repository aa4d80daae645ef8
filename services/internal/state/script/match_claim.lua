-- Claims the tickets of a batch of matches, each match all or nothing, for the director that holds the lease. A match
-- without a place is assigned at once, unless its players are asked first.
-- Full: runs
-- Uses: time, change, large, credit, player, primary, acceptance, backfill, encoding, roster, place, result, claim
-- KEYS: waiting, claims, joins, outbox, resolved, lease, revisions, backfills, then for each match: its key, its
--       outcome's key, the keys of its tickets and of its place, see place.lua, and of its result, if
--       one is awaited and it is assigned at once
-- ARGV: epoch, claim_time (until the tickets wait again), approval_time (the same for a running game), readable
--       (for how long the results are) (all three in milliseconds), max_matches (that may be claimed, 0 = no limit),
--       bytes_limit (of all large tickets and outcomes, 0 = none), max_backfills, backfill_bytes (of all backfill
--       tickets, 0 = none), match_count, then for each match: id, config, revision, number of tickets, their ids with
--       spaces between, event, body ('' = assign at once), target ('' = it needs no server), acceptance (for how
--       many milliseconds its players may accept, 0 = they are not asked), outcome size, outcome ('' = none, or it
--       is written later), compare ('0' = its tickets have no player in common), place, awaits (see result.lua, '' = no
--       result, or it is assigned later), number of assignments (1 for all tickets, or one for each), assignments, and
--       for a place with a backfill ticket its generation that the function saw, its body (of a running game '=' and
--       what the function made of it, '' = nothing), queue (encoded, '' = none) and match properties that it is started
--       with ('' = none)
-- Result: feed position (0 when nothing changed), then for each match 'ok', 'config' (changed or deleted), 'full' (too
--         many are claimed, or go to the game, or there are too many backfill tickets, or they or the outcomes are too
--         large), 'players' (one of them is in two of its tickets, or in the game), 'backfill' (it changed, or
--         functions are not shown it), 'hosting' (it has no servers for more matches), 'target' (nor for targets of
--         which it never had one) or the id of a ticket that does not wait, or whose match is known
-- Error: STALE when the lease has another epoch
-- mistake epoch: epoch = redis.call('HGET', lease, 'epoch')
if redis.call('HGET', lease, 'epoch') ~= epoch then
  return redis.error_reply('STALE the lease has passed on')
end
local now = millis()
-- A call for each ticket would take most of the time, so as much as possible is done for all tickets at once.
local matches, all, current, targets, result, changes = {}, {}, {}, {}, {0}, {}
local k, a = first_key, first_arg
local room = tonumber(max_matches) == 0 and math.huge
local added, batch = 0, {games = {}, begun = 0, bytes = 0}
-- Any match may try a shared target that is closed: not only the oldest, which may be of an invented region.
local first_try = now % match_count

for i = 1, tonumber(match_count) do
  local id, config, revision, count, tickets, event, body, target, acceptance, size, outcome, compare, place,
    awaits, assignments = unpack(ARGV, a, a + 14)
  local game = game_of(place, unpack(KEYS, k + 2 + count, k + 4 + count))
  size = tonumber(size)
  if current[config] == nil then
    current[config] = redis.call('HGET', revisions, config)
  end
  local counted, refusal = '', nil
  -- Matches that wait for the approval of a running game are not limited by --max-matches.
  local takes_room = body ~= '' and (acceptance ~= '0' or not (game and game.is_running))
  room = room or takes_room and max_matches - redis.call('ZCARD', claims)
  -- mistake config: current[config] = revision
  if current[config] ~= revision then
    refusal = 'config'
  elseif takes_room and room <= 0 or size > 0 and not has_space(added + size, bytes_limit) then
    refusal = 'full'
  elseif body ~= '' and redis.call('EXISTS', KEYS[k]) == 1 then
    -- This claim comes late. Its match ended, and may have a server that is to be deallocated.
    refusal = string.match(tickets, '[^ ]+')
  elseif compare == '1' and has_player_twice(k + 2, k + 1 + count) then
    refusal = 'players'
  end
  if game then
    game.generation, game.made, game.queue, game.started_with = unpack(ARGV, a + 15 + assignments, a + 18 + assignments)
    refusal = refusal or refuse_game(game, k + 2, k + 1 + count, tickets, batch, now, changes)
  end
  if target ~= '' and not refusal then
    counted, refusal = server_of(target, targets, now, i > first_try)
  end
  result[i + 1] = refusal or 'ok'
  if not refusal then
    if takes_room then
      room = room - 1
    end
    if game and game.is_running then
      batch.games[game.id] = true
    elseif game then
      batch.begun, batch.bytes = batch.begun + 1, batch.bytes + #game.made
    end
    added = added + size
    local match = {number = i, key = k, id = id, tickets = tickets, ids = {}, event = event, body = body,
      counted = counted, acceptance = acceptance, size = size, outcome = outcome, before_assignments = a + 14,
      assignments = tonumber(assignments), game = game, is_hosted = target ~= '', awaits = awaits}
    for ticket_id in string.gmatch(tickets, '[^ ]+') do
      all[#all + 1] = ticket_id
      table.insert(match.ids, ticket_id)
    end
    matches[#matches + 1] = match
  end
  k, a = k + 2 + count + (game and 3 or 0) + (awaits ~= '' and 1 or 0), a + 15 + assignments + (game and 4 or 0)
end

take_tickets(matches, all, result)
local events, assigned, claimed, sent, taken, count, resulted = {}, {}, {}, {}, {}, 0, 0
for _, match in ipairs(matches) do
  if result[match.number + 1] == 'ok' then
    local game = match.game
    if game then
      enter_game(game, match, now)
    end
    if match.acceptance ~= '0' then
      offer(KEYS[match.key], match.id, match.body, match.key + 2, match.key + 1 + #match.ids, match.acceptance, now,
        match.counted)
      if match.counted ~= '' then
        targets[match.counted].offered = true
      elseif game then
        redis.call('HSET', game.key, HIDDEN, ASKING .. match.id)
      end
      add(claimed, now + match.acceptance, match.id)
    elseif match.body ~= '' then
      reserve(match)
      if match.is_hosted then
        targets[match.counted].claimed = targets[match.counted].claimed + 1
        add(sent, now, match.id)
      end
      if game and game.is_running then
        join(game, match.id, approval_time, now)
      else
        add(claimed, now + claim_time, match.id)
      end
    else
      assign_now(match, now)
      assigned[#assigned + 1] = match.tickets
      resulted = resulted + #match.ids
    end
    note_outcome(match, now + readable)
    if game then
      describe(game, changes, now)
    end
    events[#events + 1], events[#events + 2] = match.event, match.tickets
    taken[#taken + 1] = match.tickets
    count = count + #match.ids
  end
end
call_all('ZADD', claims, claimed)
call_all('ZADD', outbox, sent)
for name, t in pairs(targets) do
  note_claims(name, t, now)
end
keep_results(assigned, resulted, now, readable)
if count > 0 then
  append_history(events, count)
  table.insert(changes, 1, '-')
  table.insert(changes, 2, table.concat(taken, ' '))
end
result[1] = append_feed(changes)
return result
