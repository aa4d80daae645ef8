-- Writes the result of a match to all of its tickets that still exist, and ends the match. The backfill ticket that was
-- created with it gets the connection, and so do the tickets that are proposed to it. Without a connection, or without
-- any ticket that uses it, the backfill ticket is deleted, and the proposed tickets wait again. A server that no ticket
-- uses is to be deallocated.
-- Full: runs
-- Uses: time, change, backfill, proposal, credit
-- KEYS: claims, outbox, resolved, ended, match, waiting, backfill, proposals, joined, proposed, backfills,
--       deallocations, then ticket… (those of the match, then those that are proposed to the backfill ticket)
-- ARGV: match_id, holder (that must have the lease), readable (for how many milliseconds the results are), event,
--       backfill_id ('' = none), ticket_count (of the match), connection ('' = none), joined_event (for proposed
--       tickets that are assigned), rejected_event (for the others), body (of the match when it has a server or may
--       have one, '' = it has none), call_lost ('1' = a call for the server may still arrive), server (to store, '' =
--       none), server_time (for how many milliseconds), memory (for how many milliseconds to keep a match that may have
--       a second server), target ('' = none), answer (of hosting, see credit.lua), then id, assignment…
-- Result: 'ok', or 'room' when matches that had to wait may be claimed now, then for each ticket 1 when it was
--         assigned, else 0. When the match had ended before, nothing is written: 'done' (it was assigned), 'busy'
--         (another holder has the lease), 'released' or 'gone' (it is not known any more); or 'again', then id and
--         assignment of each proposed ticket
local now = millis()
local expiry = now + readable

local function deallocate()
  redis.call('HSET', match, STATE, RELEASED, BODY, body)
  redis.call('HDEL', match, HOLDER, LEASE_EXPIRES, DEADLINE)
  redis.call('ZADD', deallocations, now, match_id)
  if call_lost == '1' then
    redis.call('HSET', match, CONFIRM, 1)
  end
  redis.call('ZREM', ended, match_id)
end

local state, current, contested, in_use = unpack(redis.call('HMGET', match, STATE, HOLDER, CONTESTED, USED))
if state == ASSIGNED then
  if in_use and connection ~= '' and connection ~= in_use then
    redis.call('HSET', match, BODY, body) -- a holder that had lost the lease got another server, later than most
    redis.call('ZADD', deallocations, now, match_id)
  end
  return {'done'}
elseif state == ALLOCATING and current and current ~= holder then
  -- The other holder's server is the match's. This one is deallocated with the match's end, since it is contested.
  return {'busy'}
elseif state ~= ALLOCATING and state ~= CLAIMED then
  -- It ended without a server. A server that comes too late is not for its tickets.
  if body ~= '' then
    deallocate()
  end
  return {state and 'released' or 'gone'}
end
local count = tonumber(ticket_count)
local has_backfill = backfill_id ~= '' and redis.call('EXISTS', backfill) == 1
if has_backfill and not are_proposed(count + 1) then
  return {'again', unpack(redis.call('HGETALL', proposals))}
end

local function assign(ticket, assignment)
  redis.call('HSET', ticket, STATE, RESOLVED, ASSIGNMENT, assignment)
  redis.call('HDEL', ticket, RESERVED_BY)
end

local result, ids = {end_of_match(answer, now) and 'room' or 'ok'}, {}
for i, ticket, id, assignment in each_ticket(1, count) do
  if is_claimed(ticket) then
    assign(ticket, assignment)
    ids[#ids + 1] = id
    result[i + 1] = 1
  else
    result[i + 1] = 0
  end
end
keep_results(ids, #ids, now, readable)
local events = {event, table.concat(ids, ' ')}
redis.call('ZREM', claims, match_id)
redis.call('ZREM', outbox, match_id)

-- end_match keeps the state of the match for allocators that work on it a second time. Its body is needed only to
-- deallocate the server. used tells whether tickets use the server.
local function end_match(used)
  if body ~= '' and not used then
    return deallocate()
  end
  redis.call('HSET', match, STATE, used and ASSIGNED or RELEASED)
  redis.call('HDEL', match, BODY, HOLDER, LEASE_EXPIRES, DEADLINE)
  local match_expiry = expiry
  if contested and used then
    redis.call('HSET', match, BODY, body, USED, connection, CONFIRM, 1)
    redis.call('ZADD', deallocations, now, match_id)
    match_expiry = now + memory
  end
  if used and server ~= '' then
    redis.call('HSET', match, SERVER, server)
    match_expiry = math.max(match_expiry, now + server_time)
  end
  redis.call('ZADD', ended, match_expiry, match_id)
end

if not has_backfill then
  end_match(connection ~= '' and #ids > 0)
  append_history(events, #ids)
  return result
end
local joined_ids = {}
for i, ticket, id, assignment in each_ticket(count + 1) do
  result[i + 1] = 0
  if connection ~= '' and is_proposed(ticket) then
    assign(ticket, assignment)
    redis.call('ZADD', joined, '+inf', id) -- its server learns of it when it approves
    joined_ids[#joined_ids + 1] = id
    result[i + 1] = 1
  end
end
keep_results(joined_ids, #joined_ids, now, readable)
local changes, moved = {}, #ids + #joined_ids
if #joined_ids > 0 then
  events[3], events[4] = joined_event, table.concat(joined_ids, ' ')
end
local used = connection ~= '' and moved > 0
end_match(used)
local proposed_body = redis.call('HGET', backfill, PROPOSED_BODY)
moved = moved + reject(count + 1, changes, events, rejected_event)
if used then
  redis.call('HSET', backfill, ALLOCATED, connection)
  redis.call('HDEL', backfill, ALLOCATING_FOR, HIDDEN)
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
