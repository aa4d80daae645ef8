-- Claims the tickets of a batch of matches, each match all or nothing, for the
-- director that holds the lease. A match without hosting is assigned at once.
-- KEYS: seq, feed, told, history, waiting, claims, outbox, resolved, lease, revisions,
--       then for each match its match key and its ticket keys
-- ARGV: feed and history kept, epoch, now, deadline of the claims, expiry of the resolved, number of matches,
--       then for each match: id, config, revision, number of tickets, event, body ('' = assign at once),
--       and for each of its tickets: id, assignment ('' when not assigned at once)
-- Result: feed position (0 when no match was claimed), then for each match 'ok',
--         'config' (changed or deleted) or the id of a ticket that does not wait
-- Error: STALE when the lease has another epoch
if redis.call('HGET', KEYS[9], 'epoch') ~= ARGV[3] then
  return redis.error_reply('STALE the lease has passed on')
end
local now, deadline, expiry = ARGV[4], ARGV[5], ARGV[6]
local result, fields, events, gone = {0}, {}, {}, {}
-- What goes into the sorted sets, score before member: a call for each member would take a quarter of the time.
local resolved, claims, outbox = {}, {}, {}
local function add(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
end
local function zadd(key, list)
  if #list > 0 then
    redis.call('ZADD', key, unpack(list))
  end
end
local k, a = 11, 8
local revisions = {}
for i = 1, tonumber(ARGV[7]) do
  local match, config, revision, n, event, body = ARGV[a], ARGV[a + 1], ARGV[a + 2], tonumber(ARGV[a + 3]), ARGV[a + 4], ARGV[a + 5]
  a = a + 6
  local verdict = 'ok'
  if revisions[config] == nil then
    revisions[config] = redis.call('HGET', KEYS[10], config)
  end
  if revisions[config] ~= revision then
    verdict = 'config'
  else
    for j = 1, n do
      if redis.call('HGET', KEYS[k + j], 's') ~= 'w' then
        verdict = ARGV[a + 2 * j - 2]
        break
      end
    end
  end
  if verdict == 'ok' then
    local first = #gone + 1
    for j = 1, n do
      local key, id = KEYS[k + j], ARGV[a + 2 * j - 2]
      if body == '' then
        redis.call('HSET', key, 's', 'r', 'a', ARGV[a + 2 * j - 1])
        add(resolved, expiry, id)
      else
        redis.call('HSET', key, 's', 'c', 'm', match)
      end
      gone[#gone + 1] = id
      add(fields, '-' .. id, '')
    end
    add(events, event, table.concat(gone, ' ', first))
    if body ~= '' then
      redis.call('HSET', KEYS[k], 'b', body, 's', 'c')
      add(claims, deadline, match)
      add(outbox, now, match)
    end
  end
  result[i + 1] = verdict
  k, a = k + 1 + n, a + 2 * n
end
zadd(KEYS[6], claims)
zadd(KEYS[7], outbox)
zadd(KEYS[8], resolved)
if #gone > 0 then
  redis.call('ZREM', KEYS[5], unpack(gone))
  tell(events, #gone)
  result[1] = feed(fields)
end
return result
