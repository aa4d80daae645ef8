-- Proposes the tickets of a match to a backfill ticket, all or nothing, for the director that holds the lease. The
-- proposal counts only at the generation of the backfill ticket that the function was shown.
-- Full: runs
-- Uses: time, change, large, backfill, player, roster, propose
-- KEYS: waiting, proposed, lease, revisions, backfills, backfill, proposals, outcome, then ticket…
-- ARGV: epoch, approval_time (in milliseconds), config, revision, backfill_id, generation,
--       new_body ('=' and what the function made of the backfill ticket, '' = nothing),
--       limit (number of proposed tickets from which on they must be approved first),
--       max_proposed (tickets), bytes_limit (of all backfill tickets, 0 = none), results_limit (bytes of all large
--       tickets and outcomes, 0 = none), match_id, outcome_body ('' = none), event, then id, assignment…
-- Result: 'ok', 'config' (changed or deleted), 'backfill' (changed or deleted, or its server is silent: it is hidden),
--         'full' (too many tickets would be proposed, or the backfill tickets or the outcomes would be too large),
--         'players' (one of them is in the game, or proposed to it, or in two of the tickets) or the id of a ticket
--         that does not wait; feed position (0 when nothing changed)
-- Error: STALE when the lease has another epoch
if redis.call('HGET', lease, 'epoch') ~= epoch then
  return redis.error_reply('STALE the lease has passed on')
end
if redis.call('HGET', revisions, config) ~= revision then
  return {'config', 0}
elseif not is_shown(generation) then
  return {'backfill', 0}
end
local now = millis()
if is_silent(now) then
  return {'backfill', hide_silent()}
end
local refusal, promised = taken(), nil
if not refusal then
  refusal, promised = refuse_joining(now)
end
if not refusal and not has_space(#outcome_body, results_limit) then
  refusal = 'full'
end
if refusal then
  return {refusal, 0}
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
propose(promised, limit, now)
describe(changes)
append_history({event, table.concat(ids, ' ')}, #ids)
return {'ok', append_feed(changes)}
