-- Claims the tickets of a batch of matches, each match all or nothing, for the
-- director that holds the lease. A match without hosting is assigned at once.
-- KEYS: seq, feed, told, history, waiting, claims, outbox, resolved, lease, revisions,
--       then for each match its match key and its ticket keys
-- ARGV: feed and history kept, epoch, now, deadline of the claims, expiry of the resolved, number of matches,
--       then for each match: id, config, revision, number of tickets, their ids with spaces between, event,
--       body ('' = assign at once), number of assignments (1 for all of the tickets, or one for each), assignments
-- Result: feed position (0 when no match was claimed), then for each match 'ok',
--         'config' (changed or deleted) or the id of a ticket that does not wait
-- Error: STALE when the lease has another epoch
if redis.call('HGET', KEYS[9], 'epoch') ~= ARGV[3] then
  return redis.error_reply('STALE the lease has passed on')
end
local now, deadline, expiry = ARGV[4], ARGV[5], ARGV[6]

-- A call for each ticket would take most of the time, so what can be is done for all at once.
local matches, all, ids, revisions, result = {}, {}, {}, {}, {0}
local k, a = 11, 8
for i = 1, tonumber(ARGV[7]) do
  local config, n, given = ARGV[a + 1], tonumber(ARGV[a + 3]), tonumber(ARGV[a + 7])
  if revisions[config] == nil then
    revisions[config] = redis.call('HGET', KEYS[10], config)
  end
  if revisions[config] == ARGV[a + 2] then
    matches[#matches + 1] = {i = i, k = k, a = a, n = n, given = given}
    ids[i] = {}
    for id in string.gmatch(ARGV[a + 4], '[^ ]+') do
      all[#all + 1] = id
      table.insert(ids[i], id)
    end
    result[i + 1] = 'ok'
  else
    result[i + 1] = 'config'
  end
  k, a = k + 1 + n, a + 8 + given
end

-- Mostly all of them wait.
if #all > 0 and redis.call('ZREM', KEYS[5], unpack(all)) < #all then
  local claimed, back = {}, {}
  for _, match in ipairs(matches) do
    for j, id in ipairs(ids[match.i]) do
      if claimed[id] or redis.call('HGET', KEYS[match.k + j], 's') ~= 'w' then
        result[match.i + 1] = id
        break
      end
    end
    if result[match.i + 1] == 'ok' then
      for _, id in ipairs(ids[match.i]) do
        claimed[id] = true
      end
    end
  end
  for _, match in ipairs(matches) do
    for j, id in ipairs(ids[match.i]) do
      if not claimed[id] then
        local ticket = redis.call('HMGET', KEYS[match.k + j], 's', 'c')
        if ticket[1] == 'w' then
          back[#back + 1] = ticket[2]
          back[#back + 1] = id
        end
      end
    end
  end
  if #back > 0 then
    redis.call('ZADD', KEYS[5], unpack(back))
  end
end

local gone, events, resolved, claims, outbox, count = {}, {}, {}, {}, {}, 0
for _, match in ipairs(matches) do
  if result[match.i + 1] == 'ok' then
    local k, a = match.k, match.a
    local id, body = ARGV[a], ARGV[a + 6]
    for j = 1, match.n do
      if body ~= '' then
        redis.call('HSET', KEYS[k + j], 's', 'c', 'm', id)
      else
        redis.call('HSET', KEYS[k + j], 's', 'r', 'a', ARGV[a + 7 + math.min(j, match.given)])
      end
    end
    if body ~= '' then
      redis.call('HSET', KEYS[k], 'b', body, 's', 'c')
      claims[#claims + 1] = deadline
      claims[#claims + 1] = id
      outbox[#outbox + 1] = now
      outbox[#outbox + 1] = id
    else
      resolved[#resolved + 1] = ARGV[a + 4]
    end
    events[#events + 1] = ARGV[a + 5]
    events[#events + 1] = ARGV[a + 4]
    gone[#gone + 1] = ARGV[a + 4]
    count = count + match.n
  end
end
if #claims > 0 then
  redis.call('ZADD', KEYS[6], unpack(claims))
  redis.call('ZADD', KEYS[7], unpack(outbox))
end
resolve(KEYS[8], expiry, resolved)
if count > 0 then
  tell(events, count)
  result[1] = feed({'-', table.concat(gone, ' ')})
end
return result
