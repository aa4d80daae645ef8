-- Claims the tickets of a match, all or nothing, for the director that holds the lease, and creates the backfill ticket
-- of its server, which is still to be allocated.
-- Full: runs
-- Uses: time, change, large, backfill, credit, player, primary, acceptance
-- KEYS: waiting, claims, outbox, lease, revisions, match, backfills, backfill, then ticket…
-- ARGV: epoch, claim_time (in milliseconds until the tickets wait again), max_matches (that may be claimed, 0 = no
--       limit), target, max_backfills, bytes_limit (of all backfill tickets, 0 = none), results_limit (bytes of all
--       large tickets and outcomes, 0 = none), outcome_size (0 = none), config, revision, match_id, body,
--       backfill_id, backfill_body, queue (encoded, '' = none), started_with (its match properties, '' = none; they
--       are left out where there is no room for them), compare ('' = its tickets have no player in common),
--       event, acceptance (for how many milliseconds its players may accept, '' = they are not asked), then id…
-- Result: 'ok', 'config' (changed or deleted), 'full' (too many matches are claimed, or the backfill tickets are too
--         many or too large, or the outcomes), 'hosting' (it has no servers for more matches), 'target' (nor for those
--         of which it never had one), 'players' (one of them is in two of its tickets) or the id of a ticket that does
--         not wait; feed position (0 unless 'ok')
-- Error: STALE when the lease has another epoch
if redis.call('HGET', lease, 'epoch') ~= epoch then
  return redis.error_reply('STALE the lease has passed on')
end
if redis.call('HGET', revisions, config) ~= revision then
  return {'config', 0}
end
if tonumber(max_matches) > 0 and redis.call('ZCARD', claims) >= tonumber(max_matches)
  or redis.call('ZCARD', backfills) >= tonumber(max_backfills)
  or not has_room(size_of(backfill_body)) then
  return {'full', 0}
end
local now, targets = millis(), {}
local counted, refusal = server_of(target, targets, now, true)
if not counted then
  local name = target_of(target)
  note_claims(name, targets[name], now)
  return {refusal, 0}
end
for _, ticket, id in each_ticket() do
  if redis.call('HGET', ticket, STATE) ~= WAITING then
    return {id, 0}
  end
end
if compare ~= '' and has_player_twice(first_key, #KEYS) then
  return {'players', 0}
end
if not has_space(tonumber(outcome_size), results_limit) then
  return {'full', 0}
end
local changes, ids = {}, {}
for _, ticket, id in each_ticket() do
  if acceptance == '' then
    redis.call('HSET', ticket, STATE, CLAIMED, RESERVED_BY, match_id)
  end
  redis.call('ZREM', waiting, id)
  ids[#ids + 1] = id
  changes[#changes + 1] = '-' .. id
  changes[#changes + 1] = ''
end
if outcome_size ~= '0' then
  count_outcome(match_id, outcome_size)
end
if acceptance == '' then
  targets[counted].claimed = 1
  redis.call('HSET', match, BODY, body, STATE, CLAIMED, COUNTED, counted)
  redis.call('ZADD', claims, now + claim_time, match_id)
  redis.call('ZADD', outbox, now, match_id)
else
  targets[counted].offered = true
  offer(match, match_id, body, first_key, #KEYS, acceptance, now, counted)
  redis.call('ZADD', claims, now + acceptance, match_id)
end
note_claims(counted, targets[counted], now)
redis.call('HSET', backfill, VERSION, 1, CREATED, now, BELONGS_TO, match_id, BODY, backfill_body,
  ALLOCATING_FOR, match_id)
if queue ~= '' then
  redis.call('HSET', backfill, QUEUE, queue)
end
if started_with ~= '' and has_room(size_of(backfill_body, started_with)) then
  redis.call('HSET', backfill, STARTED_WITH, started_with)
end
redis.call('ZADD', backfills, now, backfill_id)
describe(changes)
append_history({event, table.concat(ids, ' ')}, #ids)
return {'ok', append_feed(changes)}
