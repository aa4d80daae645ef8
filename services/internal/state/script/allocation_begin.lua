-- Takes the lease of a match, for one holder, to allocate its server. From the first lease on, the match goes on
-- without tickets that leave. When a ticket left before, the match is dropped: its other tickets wait again, the
-- backfill ticket that was created with it is deleted, and the tickets that were proposed to that wait again too.
-- Full: runs
-- Uses: time, change, backfill, proposal, credit
-- KEYS: waiting, claims, outbox, match, backfill, proposals, joined, proposed, backfills,
--       then ticket… (those of the match, then those that are proposed to the backfill ticket)
-- ARGV: match_id, event, dropped_event, backfill_id ('' = none), rejected_event, ticket_count (of the match), holder,
--       duration (of the lease), search_time (until the search for a server ends), claim_time (until the tickets wait
--       again) (all three in milliseconds), target ('' = none), then id…
-- Result: 'ok', 0, 1 for the first lease else 0, for how many milliseconds the search may still go on, counted from the
--         first lease;
--         'busy', for how many milliseconds another holder still has the lease;
--         'done' (assigned), 'released', 'gone' (ended long ago) or 'dropped', feed position (0 unless dropped);
--         or 'again', the ids of the proposed tickets
local state, current, lease_expires, first_deadline =
  unpack(redis.call('HMGET', match, STATE, HOLDER, LEASE_EXPIRES, DEADLINE))
if not state then
  return {'gone', 0}
elseif state == ASSIGNED then
  return {'done', 0}
elseif state == RELEASED then
  return {'released', 0}
end
local now, taken_over = millis(), state == ALLOCATING and current and current ~= holder
if taken_over and not has_ended(tonumber(lease_expires), now, tonumber(duration)) then
  return {'busy', lease_expires - now}
end
local changes, ids, times, scores, count = {}, {}, {}, {}, tonumber(ticket_count)
for _, ticket, id in each_ticket(1, count) do
  local claimed, created = is_claimed(ticket)
  if claimed then
    ids[#ids + 1] = id
    times[#ids] = created
  end
end
if state == CLAIMED and #ids < count then
  local has_backfill = backfill_id ~= '' and redis.call('EXISTS', backfill) == 1
  if has_backfill and not are_proposed(count + 1) then
    return again()
  end
  local next_id = 1
  for _, ticket, id in each_ticket(1, count) do
    if id == ids[next_id] then
      requeue(ticket, id, times[next_id], changes, scores)
      next_id = next_id + 1
    end
  end
  wait_again(scores)
  end_of_match('', now)
  redis.call('DEL', match)
  redis.call('ZREM', claims, match_id)
  redis.call('ZREM', outbox, match_id)
  local events, moved = {dropped_event, table.concat(ids, ' ')}, #ids
  if has_backfill then
    moved = moved + reject(count + 1, changes, events, rejected_event)
    forget(changes)
  end
  append_history(events, moved)
  if #changes == 0 then
    return {'dropped', 0}
  end
  return {'dropped', append_feed(changes)}
end
redis.call('ZREM', outbox, match_id)
append_history({event, table.concat(ids, ' ')}, #ids)
if state == ALLOCATING then
  -- Later holders have what is left of the time: the deadlines are those of the first lease.
  redis.call('HSET', match, HOLDER, holder, LEASE_EXPIRES, now + duration)
  if taken_over then
    redis.call('HSET', match, CONTESTED, 1)
  end
  return {'ok', 0, 0, math.max(0, math.min(first_deadline - now, tonumber(search_time)))}
end
redis.call('HSET', match, STATE, ALLOCATING, HOLDER, holder, LEASE_EXPIRES, now + duration, DEADLINE, now + search_time)
redis.call('ZADD', claims, now + claim_time, match_id)
return {'ok', 0, 1, tonumber(search_time)}
