-- Notes that the server of a backfill ticket approves, and lists the matches that go to its game, to be assigned now.
-- Full: runs
-- Uses: time, change, rate, backfill
-- KEYS: claims, joins, backfills, backfill, joining, joined
-- ARGV: backfill_id, repeat_time (for how many milliseconds joined tickets are reported again), interval, burst (of the
--       server's bucket in microseconds, interval 0 = no limit), match_id (that it must belong to, '' = any)
-- Result: 'ok', feed position (0 when nothing changed), version, generation, created, connection, body, the matches,
--         with spaces between ('' = none, or its server is still being allocated), matches that are to be released now
--         instead, since it approves too late, and the ids of the tickets that joined before; 'limited' and how many
--         microseconds to wait, then values without a meaning; or 'none' alone
local game = {id = backfill_id, key = backfill, open = joining, joined = joined}
if not is_accessible(game, match_id) then
  return 'none'
end
local now_micros = micros()
local now = math.floor(now_micros / 1000)
local connection, allocated, allocating, hidden, bucket =
  unpack(redis.call('HMGET', backfill, CONNECTION, ALLOCATED, ALLOCATING_FOR, HIDDEN, BUCKET))
if interval ~= '0' then
  interval, burst = tonumber(interval), tonumber(burst)
  local full = bounded(tonumber(bucket or 0), now_micros, interval, burst)
  local wait = wait_for(full, now_micros, interval, burst)
  if wait > 0 then
    return {'limited', wait, 0, 0, 0, '', '', '', ''}
  end
  redis.call('HSET', backfill, BUCKET, to_text(math.max(now_micros, full) + interval))
end
redis.call('ZADD', backfills, now, backfill_id)
note_approval(game, now)
redis.call('ZREMRANGEBYSCORE', joined, '-inf', now - repeat_time)
local previous = redis.call('ZRANGE', joined, 0, -1)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', joined, '(' .. now, '+inf')) do
  redis.call('ZADD', joined, now, id) -- for the first time, or another clock said when, before a failover
end
connection = connection or allocated or ''
local matches, lapsed, position = {}, {}, 0
if not allocating and connection ~= '' then
  matches = redis.call('HKEYS', joining)
end
for _, id in ipairs(matches) do
  local deadline = tonumber(redis.call('ZSCORE', joins, id) or now)
  if deadline < now and deadline ~= SERVED then
    matches, lapsed, hidden = {}, close(game), LAPSED -- what functions made of the body for all of them is lost
    break
  end
end
if hidden == LAPSED then
  local changes = {}
  redis.call('HDEL', backfill, HIDDEN)
  describe(game, changes, now)
  position = append_feed(changes)
end
local version, generation, created, body, queue, roster =
  unpack(redis.call('HMGET', backfill, VERSION, GENERATION, CREATED, BODY, QUEUE, ROSTER))
return {'ok', position, tonumber(version), tonumber(generation), tonumber(created), connection,
  body .. (queue or '') .. (roster or ''), table.concat(matches, ' '), table.concat(lapsed, ' '), unpack(previous)}
