-- Takes the lease of a match that a backfill ticket was created with, as allocation_begin.lua does. When the match is
-- dropped, its backfill ticket is deleted, and the tickets that were proposed to that wait again too.
-- Full: runs
-- Uses: time, change, large, backfill, proposal, credit, allocation
-- KEYS: waiting, claims, outbox, match, backfill, proposals, joined, proposed, backfills,
--       then ticket… (those of the match, then those that are proposed to the backfill ticket)
-- ARGV: match_id, event, dropped_event, backfill_id ('' = none), rejected_event, ticket_count (of the match), holder,
--       duration (of the lease), search_time (until the search for a server ends), claim_time (until the tickets wait
--       again, counted as the search is) (all three in milliseconds), target ('' = none), then id…
-- Result: 'ok', 0, 1 for the first lease else 0, for how many milliseconds the search may still go on, of which the
--         leases before had their part, and the ids of the players: newlines between those of a ticket, tabs between
--         the tickets;
--         'busy', for how many milliseconds another holder still has the lease;
--         'done' (assigned), 'released', 'gone' (ended long ago) or 'dropped', feed position (0 unless dropped);
--         or 'again', the ids of the proposed tickets
local now, m = millis(), {key = match, id = match_id, holder = holder}
local refusal, begun, taken_over, time_left = refuse_lease(m, duration, now)
if refusal then
  return {refusal, begun}
end
local changes, ids, times, names, scores, count = {}, {}, {}, {}, {}, tonumber(ticket_count)
for _, ticket, id in each_ticket(1, count) do
  local claimed, created, its_players = is_claimed(ticket, match_id)
  names[#names + 1] = claimed and its_players or ''
  if claimed then
    ids[#ids + 1] = id
    times[#ids] = created
  end
end
if not begun and #ids < count then
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
  -- mistake undropped: m.state = nil
  local ends = {}
  end_of_match(counted_to(m.state, m.counted, target), ends, '', now)
  note_ends(ends)
  release({OUTCOME .. match_id})
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
local first, left = take_lease(m, begun, taken_over, time_left, duration, search_time, now)
redis.call('ZADD', claims, now + left + claim_time - search_time, match_id)
return {'ok', 0, first, left, table.concat(names, '\t')}
