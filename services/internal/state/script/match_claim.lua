-- Claims the tickets of a batch of matches, each match all or nothing, for the director that holds the lease. A match
-- without hosting is assigned at once, unless its players are asked first.
-- Full: runs
-- Uses: time, change, large, credit, player, primary, acceptance
-- KEYS: waiting, claims, outbox, resolved, lease, revisions, then for each match: its key, that of its outcome, and the
--       keys of its tickets
-- ARGV: epoch, claim_time (until the tickets wait again), readable (for how long the results are) (both in
--       milliseconds), max_matches (that may be claimed, 0 = no limit), bytes_limit (of all large tickets and
--       outcomes, 0 = none), match_count, then for each match: id, config, revision, number of tickets, their ids
--       with spaces between, event, body ('' = assign at once), target ('' = it needs no server), acceptance (for how
--       many milliseconds its players may accept, '' = they are not asked), outcome size, outcome ('' = none, or it
--       is written later), compare ('' = its tickets have no player in common), number of assignments (1 for all
--       tickets, or one for each), assignments
-- Result: feed position (0 when no match was claimed), then for each match 'ok', 'config' (changed or deleted), 'full'
--         (too many are claimed, or the outcomes are too large), 'players' (one of them is in two of its tickets),
--         'hosting' (it has no servers for more matches), 'target' (nor for those of which it never had one) or the id
--         of a ticket that does not wait
-- Error: STALE when the lease has another epoch
-- mistake epoch: epoch = redis.call('HGET', lease, 'epoch')
if redis.call('HGET', lease, 'epoch') ~= epoch then
  return redis.error_reply('STALE the lease has passed on')
end

local now = millis()
-- A call for each ticket would take most of the time, so as much as possible is done for all tickets at once.
local matches, all, current, targets, result = {}, {}, {}, {}, {0}
local k, a = first_key, first_arg
local room = tonumber(max_matches) > 0 and max_matches - redis.call('ZCARD', claims) or math.huge
local added = 0
-- Of those that may try a shared target that is closed, any may: not the oldest, which may be of invented regions.
local first_try = now % match_count
for i = 1, tonumber(match_count) do
  local id, config, revision, count, tickets, event, body, target, acceptance, size, outcome, compare, assignments =
    unpack(ARGV, a, a + 12)
  size = tonumber(size)
  if current[config] == nil then
    current[config] = redis.call('HGET', revisions, config)
  end
  -- mistake config: current[config] = revision
  if current[config] ~= revision then
    result[i + 1] = 'config'
  elseif body ~= '' and room <= 0 or size > 0 and not has_space(added + size, bytes_limit) then
    result[i + 1] = 'full'
  elseif compare ~= '' and has_player_twice(k + 2, k + 1 + count) then
    result[i + 1] = 'players'
  else
    result[i + 1] = 'ok'
  end
  local counted, refusal = '', nil
  if target ~= '' and result[i + 1] == 'ok' then
    counted, refusal = server_of(target, targets, now, i > first_try)
    result[i + 1] = refusal or 'ok'
  end
  if result[i + 1] == 'ok' then
    if body ~= '' then
      room = room - 1
    end
    added = added + size
    local match = {number = i, key = k, id = id, tickets = tickets, ids = {}, event = event, body = body,
      counted = counted, acceptance = acceptance, size = size, outcome = outcome, before_assignments = a + 12,
      assignments = tonumber(assignments)}
    for ticket_id in string.gmatch(tickets, '[^ ]+') do
      all[#all + 1] = ticket_id
      table.insert(match.ids, ticket_id)
    end
    matches[#matches + 1] = match
  end
  k, a = k + 2 + count, a + 13 + assignments
end

-- ticket_key returns the key of the j-th ticket of a match.
local function ticket_key(match, j)
  return KEYS[match.key + 1 + j]
end

-- Usually all of them wait.
if #all > 0 and redis.call('ZREM', waiting, unpack(all)) < #all then
  local claimed, back = {}, {}
  for _, match in ipairs(matches) do
    for j, id in ipairs(match.ids) do
      if claimed[id] or redis.call('HGET', ticket_key(match, j), STATE) ~= WAITING then
        result[match.number + 1] = id
        break
      end
    end
    -- mistake state: result[match.number + 1] = 'ok'
    if result[match.number + 1] == 'ok' then
      for _, id in ipairs(match.ids) do
        claimed[id] = true
      end
    end
  end
  for _, match in ipairs(matches) do
    for j, id in ipairs(match.ids) do
      if not claimed[id] then
        local state, created = unpack(redis.call('HMGET', ticket_key(match, j), STATE, CREATED))
        if state == WAITING then
          back[#back + 1] = created
          back[#back + 1] = id
        end
      end
    end
  end
  if #back > 0 then
    redis.call('ZADD', waiting, unpack(back))
  end
end

local events, assigned, claimed, sent, taken, count, resulted = {}, {}, {}, {}, {}, 0, 0
for _, match in ipairs(matches) do
  if result[match.number + 1] == 'ok' then
    if match.acceptance ~= '' then
      offer(KEYS[match.key], match.id, match.body, match.key + 2, match.key + 1 + #match.ids, match.acceptance, now,
        match.counted)
      if match.counted ~= '' then
        targets[match.counted].offered = true
      end
      claimed[#claimed + 1] = now + match.acceptance
      claimed[#claimed + 1] = match.id
    elseif match.body ~= '' then
      for j = 1, #match.ids do
        redis.call('HSET', ticket_key(match, j), STATE, CLAIMED, RESERVED_BY, match.id)
      end
      redis.call('HSET', KEYS[match.key], BODY, match.body, STATE, CLAIMED, COUNTED, match.counted)
      targets[match.counted].claimed = targets[match.counted].claimed + 1
      claimed[#claimed + 1] = now + claim_time
      claimed[#claimed + 1] = match.id
      sent[#sent + 1] = now
      sent[#sent + 1] = match.id
    else
      for j = 1, #match.ids do
        local assignment = ARGV[match.before_assignments + math.min(j, match.assignments)]
        redis.call('HSET', ticket_key(match, j), STATE, RESOLVED, ASSIGNMENT, assignment)
      end
      assigned[#assigned + 1] = match.tickets
      resulted = resulted + #match.ids
    end
    if match.outcome ~= '' then
      keep_outcome(KEYS[match.key + 1], match.id, match.outcome, now + readable)
    elseif match.size > 0 then
      count_outcome(match.id, match.size)
    end
    events[#events + 1] = match.event
    events[#events + 1] = match.tickets
    taken[#taken + 1] = match.tickets
    count = count + #match.ids
  end
end
if #claimed > 0 then
  redis.call('ZADD', claims, unpack(claimed))
end
if #sent > 0 then
  redis.call('ZADD', outbox, unpack(sent))
end
for name, t in pairs(targets) do
  note_claims(name, t, now)
end
keep_results(assigned, resulted, now, readable)
if count > 0 then
  append_history(events, count)
  result[1] = append_feed({'-', table.concat(taken, ' ')})
end
return result
