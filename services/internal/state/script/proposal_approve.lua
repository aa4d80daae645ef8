-- Assigns the tickets that are proposed to a backfill ticket, for its server. Those that were proposed too long ago
-- wait again instead.
-- Full: runs
-- Uses: time, change, rate, large, backfill, proposal, player, roster
-- KEYS: waiting, claims, resolved, backfills, proposed, backfill, proposals, joined, then ticket…
-- ARGV: backfill_id, readable (for how many milliseconds the results are), repeat_time (for how many milliseconds
--       joined tickets are reported again), interval, burst (of the server's bucket in microseconds, interval 0 = no
--       limit), match_id (that it must belong to, '' = any), assigned_event, rejected_event, generation (that the
--       proposed tickets are of, '' = none are known), outcome_ids (that the assignments name, with spaces between),
--       then id, assignment…
-- Result: 'ok', feed position (0 when nothing changed), version, generation, created, connection, body, number of
--         assigned tickets, then the id and the body of each ('' = it is to be read, the reply would be too large),
--         then the ids of those that joined before; 'none'; 'limited', how many microseconds to wait; or 'again',
--         generation, connection, then id and assignment of each proposed ticket
if not is_accessible() then
  return {'none'}
end
local now_micros = micros()
local now = math.floor(now_micros / 1000)
local current, named, allocated, allocating, hidden, bucket =
  unpack(redis.call('HMGET', backfill, GENERATION, CONNECTION, ALLOCATED, ALLOCATING_FOR, HIDDEN, BUCKET))
if generation == '' and interval ~= '0' then
  interval, burst = tonumber(interval), tonumber(burst)
  local full = bounded(tonumber(bucket or 0), now_micros, interval, burst)
  local wait = wait_for(full, now_micros, interval, burst)
  if wait > 0 then
    return {'limited', wait}
  end
  redis.call('HSET', backfill, BUCKET, to_text(math.max(now_micros, full) + interval))
end
local connection = named or allocated or ''
local ready = not allocating and connection ~= '' -- while its server is being allocated its tickets wait for that
if ready and generation ~= current and redis.call('EXISTS', proposals) == 1 then
  return {'again', tonumber(current), connection, unpack(redis.call('HGETALL', proposals))}
end
redis.call('ZADD', backfills, now, backfill_id)
note_approval(now)
redis.call('ZREMRANGEBYSCORE', joined, '-inf', now - repeat_time)
local previous = redis.call('ZRANGE', joined, 0, -1)
for _, id in ipairs(redis.call('ZRANGEBYSCORE', joined, '+inf', '+inf')) do
  redis.call('ZADD', joined, now, id) -- it is reported for the first time
end
local changes, events, moved, sent, assigned, ids, keys = {}, {}, 0, 0, {}, {}, {}
local their_results = {}
-- Players who are asked stay so. When their match is lost, functions are shown the backfill ticket again.
local asks = asking_match(hidden)
local is_asking = asks and redis.call('ZSCORE', claims, asks)
local changed = hidden == LAPSED or asks and not is_asking
if ready and generation == current then
  changed = true
  local proposed_body = redis.call('HGET', backfill, PROPOSED_BODY)
  if tonumber(redis.call('ZSCORE', proposed, backfill_id)) >= now then
    for _, ticket, id, assignment in each_ticket() do
      if is_proposed(ticket) then
        redis.call('HSET', ticket, STATE, RESOLVED, ASSIGNMENT, assignment)
        redis.call('HDEL', ticket, RESERVED_BY)
        redis.call('ZADD', joined, now, id)
        ids[#ids + 1] = id
        keys[#keys + 1] = ticket
        their_results[#their_results + 1] = assignment
        assigned[#assigned + 1] = id
        local ticket_body = sent < REPLY and redis.call('HGET', ticket, BODY) or ''
        sent = sent + #ticket_body
        assigned[#assigned + 1] = ticket_body
      end
    end
  elseif is_asking then
    end_asking() -- what functions made of the body for the lapsed tickets' sake goes
    is_asking = false
  end
  note_joined(keys, their_results, now)
  keep_results(ids, #ids, now, readable)
  extend_outcomes(outcome_ids, now + readable)
  if #ids > 0 then
    events, moved = {assigned_event, table.concat(ids, ' ')}, #ids
    if proposed_body then
      redis.call('HSET', backfill, BODY, proposed_body) -- what functions made of it holds, as a ticket joins
    end
  end
  -- The tickets that are assigned are no longer proposed, so this rejects only the others.
  moved = moved + reject(1, changes, events, rejected_event)
end
local position = 0
if changed then
  if not is_asking then
    redis.call('HDEL', backfill, HIDDEN)
  end
  describe(changes)
  if moved > 0 then
    append_history(events, moved)
  end
  position = append_feed(changes)
end
-- The server learns nothing of tickets that are still proposed, nor of what was made of the body for their sake.
local version, new_generation, created, body, queue, roster =
  unpack(redis.call('HMGET', backfill, VERSION, GENERATION, CREATED, BODY, QUEUE, ROSTER))
body = body .. (queue or '') .. (roster or '')
local result = {'ok', position, tonumber(version), tonumber(new_generation), tonumber(created), connection, body, #ids}
for _, list in ipairs({assigned, previous}) do
  for _, value in ipairs(list) do
    result[#result + 1] = value
  end
end
return result
