-- Assigns the tickets that are proposed to a backfill ticket, for its server. When they have waited for too long for it
-- they wait for others again instead.
-- KEYS: seq, feed, told, history, waiting, resolved, backfills, proposed, backfill, its proposed tickets, its joined tickets,
--       then the ticket keys of the proposed ones
-- ARGV: feed and history kept, id, now, expiry of the resolved, since when joined tickets are told again,
--       now in microseconds, interval and burst of the server's bucket (interval 0 = no limit), match that it must belong
--       to ('' = whichever), events of tickets that are assigned and that wait again,
--       generation that the proposed tickets are of ('' = none are known), then id, assignment of each
-- Result: 'ok', feed position (0 when nothing changed), version, generation, created, connection, body,
--         how many tickets were assigned, then the id and the body of each, then the ids of those that joined before; 'none';
--         'limited', in how many microseconds to come again;
--         or 'again', generation, connection, then id and assignment of each proposed ticket
local id, now, bf, bp, joined = ARGV[3], ARGV[4], KEYS[9], KEYS[10], KEYS[11]
if not may_touch(bf, ARGV[10]) then
  return {'none'}
end
local t = redis.call('HMGET', bf, 'g', 'a', 'd', 'm', 'h', 'r')
if ARGV[13] == '' and ARGV[8] ~= '0' then
  local full, at, interval = tonumber(t[6] or 0), tonumber(ARGV[7]), tonumber(ARGV[8])
  local wait = after(full, at, interval, tonumber(ARGV[9]))
  if wait > 0 then
    return {'limited', wait}
  end
  redis.call('HSET', bf, 'r', text(math.max(at, full) + interval))
end
local connection = t[2] or t[3] or ''
local ready = not t[4] and connection ~= '' -- while its server is being allocated its tickets wait for that
if ready and ARGV[13] ~= t[1] and redis.call('EXISTS', bp) == 1 then
  return {'again', tonumber(t[1]), connection, unpack(redis.call('HGETALL', bp))}
end
redis.call('ZADD', KEYS[7], now, id)
redis.call('ZREMRANGEBYSCORE', joined, '-inf', ARGV[6])
local before = redis.call('ZRANGE', joined, 0, -1)
for _, ticket in ipairs(redis.call('ZRANGEBYSCORE', joined, '+inf', '+inf')) do
  redis.call('ZADD', joined, now, ticket) -- told for the first time
end
local fields, events, moved, assigned, ids = {}, {}, 0, {}, {}
local changed = t[5] == 'l'
if ready and ARGV[13] == t[1] then
  changed = true
  local made = redis.call('HGET', bf, 'n')
  if tonumber(redis.call('ZSCORE', KEYS[8], id)) >= tonumber(now) then
    for i = 12, #KEYS do
      local a = 2 * i - 10
      if proposed_to(KEYS[i], id) then
        redis.call('HSET', KEYS[i], 's', 'r', 'a', ARGV[a + 1])
        redis.call('HDEL', KEYS[i], 'm')
        redis.call('ZADD', joined, now, ARGV[a])
        ids[#ids + 1] = ARGV[a]
        assigned[#assigned + 1] = ARGV[a]
        assigned[#assigned + 1] = redis.call('HGET', KEYS[i], 'b')
      end
    end
  end
  resolve(KEYS[6], ARGV[5], ids)
  if #ids > 0 then
    events, moved = {ARGV[11], table.concat(ids, ' ')}, #ids
    if made then
      redis.call('HSET', bf, 'b', made) -- what functions made of it holds, as somebody comes
    end
  end
  -- Those that are assigned are proposed no more.
  moved = moved + reject(bf, bp, id, KEYS[8], KEYS[5], 12, 14, 2, fields, events, ARGV[12])
end
local position = 0
if changed then
  redis.call('HDEL', bf, 'h')
  show(bf, id, fields)
  tell_some(events, moved)
  position = feed(fields)
end
-- Its server is told nothing of tickets that are still proposed, and so of nothing that was made of it for their sake.
local is = redis.call('HMGET', bf, 'v', 'g', 'c', 'b')
local result = {'ok', position, tonumber(is[1]), tonumber(is[2]), tonumber(is[3]), connection, is[4], #ids}
for _, list in ipairs({assigned, before}) do
  for _, value in ipairs(list) do
    result[#result + 1] = value
  end
end
return result
