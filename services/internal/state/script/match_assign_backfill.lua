-- Writes the result of a match that a backfill ticket was created with, and ends it, as match_assign.lua does. The
-- backfill ticket gets the connection, and so do the tickets that are proposed to it. Without a connection, or without
-- any ticket that uses it, the backfill ticket is deleted, and the proposed tickets wait again.
-- Full: runs
-- Uses: time, change, large, backfill, proposal, player, roster, credit, allocation
-- KEYS: claims, outbox, resolved, match, waiting, backfill, proposals, joined, proposed, backfills, outcome,
--       then ticket… (those of the match, then those that are proposed to the backfill ticket)
-- ARGV: match_id, holder (that must have the lease), readable (for how many milliseconds the results are), event,
--       backfill_id ('' = none), ticket_count (of the match), connection ('' = none), joined_event (for proposed
--       tickets that are assigned), rejected_event (for the others), body (of the match when it has a server or may
--       have one, '' = it has none), call_lost ('1' = a call for the server may still arrive), server (to store, '' =
--       none), server_time (for how many milliseconds), memory (for how many milliseconds to keep a match that may have
--       a second server), target ('' = none), answer (of hosting, see credit.lua), outcome_body ('' = none),
--       joined_outcomes (that the results of the proposed tickets name, with spaces between), then id, assignment…
-- Result: 'ok', or 'room' when matches that had to wait may be claimed now, then for each ticket 1 when it was
--         assigned, else 0. When the match had ended before, nothing is written: 'done' (it was assigned), 'busy'
--         (another holder has the lease), 'asked' (its players are still asked, and it is to be released with its
--         server), 'released' or 'gone' (it is not known any more); or 'again', then id and assignment of each proposed
--         ticket
local now = millis()
local expiry = now + readable

local m = {key = match, id = match_id, holder = holder, connection = connection, body = body, call_lost = call_lost,
  server = server, server_time = server_time}
local refusal, contested = refuse_end(m, now)
if refusal then
  return {refusal}
end
local count = tonumber(ticket_count)
local has_backfill = backfill_id ~= '' and redis.call('EXISTS', backfill) == 1
if has_backfill and not are_proposed(count + 1) then
  return {'again', unpack(redis.call('HGETALL', proposals))}
end

local ends = {}
local counted = counted_to(m.state, m.counted, target)
-- mistake unreturned: counted = ''
local result, ids = {end_of_match(counted, ends, answer, now) and 'room' or 'ok'}, {}
note_ends(ends)
reopen_offered(m.state, m.counted, now)
if connection ~= '' then
  note_served(target, now)
end
for i, ticket, id, assignment in each_ticket(1, count) do
  if is_claimed(ticket, match_id) then
    resolve(ticket, assignment)
    ids[#ids + 1] = id
    result[i + 1] = 1
  else
    result[i + 1] = 0
  end
end
keep_results(ids, #ids, now, readable)
if outcome_body ~= '' and #ids > 0 then
  keep_outcome(outcome, match_id, outcome_body, expiry)
elseif outcome_body ~= '' then
  release({OUTCOME .. match_id})
end
local events = {event, table.concat(ids, ' ')}
redis.call('ZREM', claims, match_id)
redis.call('ZREM', outbox, match_id)

-- keep notes until when the match is kept.
local function keep(used)
  local kept = end_match(m, used, contested, expiry, memory, now)
  keep_ended(kept and {kept, match_id} or {})
end

if not has_backfill then
  keep(connection ~= '' and #ids > 0)
  append_history(events, #ids)
  return result
end
local joined_ids, joined_keys, joined_results = {}, {}, {}
for i, ticket, id, assignment in each_ticket(count + 1) do
  result[i + 1] = 0
  if connection ~= '' and is_proposed(ticket) then
    resolve(ticket, assignment)
    redis.call('ZADD', joined, '+inf', id) -- its server learns of it when it approves
    joined_ids[#joined_ids + 1] = id
    joined_keys[#joined_keys + 1] = ticket
    joined_results[#joined_results + 1] = assignment
    result[i + 1] = 1
  end
end
note_joined(joined_keys, joined_results, now)
keep_results(joined_ids, #joined_ids, now, readable)
extend_outcomes(joined_outcomes, expiry)
local changes, moved = {}, #ids + #joined_ids
if #joined_ids > 0 then
  events[3], events[4] = joined_event, table.concat(joined_ids, ' ')
end
local used = connection ~= '' and moved > 0
keep(used)
local proposed_body = redis.call('HGET', backfill, PROPOSED_BODY)
moved = moved + reject(count + 1, changes, events, rejected_event)
if used then
  redis.call('HSET', backfill, ALLOCATED, connection)
  redis.call('HDEL', backfill, ALLOCATING_FOR)
  if not asking_match(redis.call('HGET', backfill, HIDDEN)) then
    redis.call('HDEL', backfill, HIDDEN)
  end
  if proposed_body and #joined_ids > 0 then
    redis.call('HSET', backfill, BODY, proposed_body)
  end
  redis.call('ZADD', backfills, now, backfill_id)
  describe(changes)
else
  forget(changes)
end
append_history(events, moved)
append_feed(changes)
return result
