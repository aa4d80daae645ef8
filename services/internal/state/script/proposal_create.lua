-- Proposes the tickets of a match to a backfill ticket, all or nothing, for the director that holds the lease. The
-- proposal counts only at the generation of the backfill ticket that the function was shown.
-- Full: runs
-- Uses: time, change, large, backfill, roster
-- KEYS: waiting, proposed, lease, revisions, backfill, proposals, outcome, then ticket…
-- ARGV: epoch, approval_time (in milliseconds), config, revision, backfill_id, generation,
--       new_body ('=' and what the function made of the backfill ticket, '' = nothing),
--       limit (number of proposed tickets from which on they must be approved first),
--       max_proposed (tickets), bytes_limit (of all backfill tickets, 0 = none), results_limit (bytes of all large
--       tickets and outcomes, 0 = none), match_id, outcome_body ('' = none), event, then id, assignment…
-- Result: 'ok', 'config' (changed or deleted), 'backfill' (changed or deleted), 'full' (too many tickets would be
--         proposed, or the backfill tickets or the outcomes would be too large), 'players' (one of them is in the
--         game, or proposed to it, or in two of the tickets) or the id of a ticket that does not wait; feed
--         position (0 unless 'ok')
-- Error: STALE when the lease has another epoch
if redis.call('HGET', lease, 'epoch') ~= epoch then
  return redis.error_reply('STALE the lease has passed on')
end
if redis.call('HGET', revisions, config) ~= revision then
  return {'config', 0}
end
local current, hidden, allocating = unpack(redis.call('HMGET', backfill, GENERATION, HIDDEN, ALLOCATING_FOR))
if current ~= generation or hidden then
  return {'backfill', 0}
end
local count = redis.call('HLEN', proposals)
for _, ticket, id in each_ticket() do
  if redis.call('HGET', ticket, STATE) ~= WAITING then
    return {id, 0}
  end
  count = count + 1
end
local now = millis()
local refusal, promised = roster_refuses(first_key, #KEYS, now)
if refusal then
  return {refusal, 0}
end
if count > tonumber(max_proposed) then
  return {'full', 0}
end
local body, connection, allocated, before =
  unpack(redis.call('HMGET', backfill, BODY, CONNECTION, ALLOCATED, PROMISED))
local players_size = roster_size(backfill) - #(before or '') + #promised
if not has_room(size_of(body, string.sub(new_body, 2), connection, allocated, players_size)) then
  return {'full', 0}
end
if not has_space(#outcome_body, results_limit) then
  return {'full', 0}
end
local changes, ids = {}, {}
for _, ticket, id, assignment in each_ticket() do
  redis.call('HSET', ticket, STATE, PROPOSED, RESERVED_BY, backfill_id)
  redis.call('HSET', proposals, id, assignment)
  redis.call('ZREM', waiting, id)
  ids[#ids + 1] = id
  changes[#changes + 1] = '-' .. id
  changes[#changes + 1] = ''
end
-- While its server is being allocated there is no deadline: the tickets end with the allocation.
redis.call('ZADD', proposed, 'NX', allocating and '+inf' or now + approval_time, backfill_id)
keep_outcome(outcome, match_id, outcome_body, now + (allocating and ALLOCATION or approval_time))
redis.call('HSET', backfill, PROMISED, promised)
if new_body ~= '' then
  redis.call('HSET', backfill, PROPOSED_BODY, string.sub(new_body, 2))
end
-- Without a new body, the next function would send others to the same places.
if new_body == '' or redis.call('HLEN', proposals) >= tonumber(limit) then
  redis.call('HSET', backfill, HIDDEN, APPROVAL)
end
describe(changes)
append_history({event, table.concat(ids, ' ')}, #ids)
return {'ok', append_feed(changes)}
