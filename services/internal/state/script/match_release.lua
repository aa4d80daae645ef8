-- Ends a match whose claim deadline has passed, or that gets no server. Its tickets wait again at their old age. The
-- backfill ticket that was created with it is deleted, and the tickets that were proposed to that wait again too. When
-- the match may have a server, its body stays until that is deallocated.
-- Otherwise nothing is kept of it: for whoever works on it, a match that is not known has ended.
-- Full: runs
-- Uses: time, change, large, backfill, proposal, credit
-- KEYS: waiting, claims, outbox, match, backfill, proposals, joined, proposed, backfills, deallocations,
--       then ticket… (those of the match, then those that are proposed to the backfill ticket)
-- ARGV: match_id, holder (that must have the lease; '' = release it only if its deadline has passed), event,
--       backfill_id ('' = none), rejected_event, ticket_count (of the match), may_have_server ('1', '0', or '' = when
--       one was asked for), target ('' = none), then id…
-- Result: 1 when it was released, 0 when its deadline has not passed, another holder has it, or it had ended; feed
--         position (0 when no ticket waits again); or 'again', the ids of the proposed tickets
local now, deadline = millis(), redis.call('ZSCORE', claims, match_id)
local state, current, lease_expires, contested, counted =
  unpack(redis.call('HMGET', match, STATE, HOLDER, LEASE_EXPIRES, CONTESTED, COUNTED))
-- mistake overdue: deadline = deadline and deadline + 20000
if not deadline or (holder == '' and tonumber(deadline) > now) or (holder ~= '' and current and current ~= holder) then
  return {0, 0}
end
local count = tonumber(ticket_count)
local has_backfill = backfill_id ~= '' and redis.call('EXISTS', backfill) == 1
if has_backfill and not are_proposed(count + 1) then
  return again()
end
redis.call('ZREM', claims, match_id)
redis.call('ZREM', outbox, match_id)
local ends = {}
end_of_match(counted_to(state, counted, target), ends, '0', now)
note_ends(ends)
reopen_offered(state, counted, now)
release({OUTCOME .. match_id})
if may_have_server == '1' or contested or (may_have_server == '' and state == ALLOCATING) then
  local due = now
  -- A call for its server may still arrive: of the holder, or one whose answer was lost. Deallocate the server when the
  -- lease has expired, and once more after that.
  if may_have_server == '' and current then
    due = math.max(due, tonumber(lease_expires))
  end
  if may_have_server == '1' or contested or current then
    redis.call('HSET', match, CONFIRM, 1)
  end
  redis.call('ZADD', deallocations, due, match_id)
  redis.call('HSET', match, STATE, RELEASED)
  redis.call('HDEL', match, HOLDER, LEASE_EXPIRES, DEADLINE, COUNTED)
else
  redis.call('DEL', match)
end
local changes, ids, scores = {}, {}, {}
for _, ticket, id in each_ticket(1, count) do
  local claimed, created = is_claimed(ticket, match_id)
  if claimed then
    requeue(ticket, id, created, changes, scores)
    ids[#ids + 1] = id
  end
end
wait_again(scores)
local events, moved = {event, table.concat(ids, ' ')}, #ids
if has_backfill then
  moved = moved + reject(count + 1, changes, events, rejected_event)
  forget(changes)
end
append_history(events, moved)
if #changes == 0 then
  return {1, 0}
end
return {1, append_feed(changes)}
