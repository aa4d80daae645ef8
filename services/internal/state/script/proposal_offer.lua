-- Asks the players of a match whether they go to the running game of a backfill ticket, all or nothing, for the
-- director that holds the lease. Until they have answered, functions are not shown the backfill ticket: none sends
-- others to the same places. Its server learns nothing. What the function saw counts as for proposal_create.lua.
-- Full: runs
-- Uses: time, change, large, backfill, player, primary, acceptance, roster, propose
-- KEYS: waiting, claims, lease, revisions, match, backfills, backfill, proposals, then ticket…
-- ARGV: epoch, max_matches (that may be claimed, 0 = no limit), config, revision, backfill_id, generation,
--       new_body ('=' and what the function made of the backfill ticket, '' = nothing), max_proposed (tickets),
--       bytes_limit (of all backfill tickets, 0 = none), results_limit (bytes of all large tickets and outcomes, 0 =
--       none), outcome_size (0 = none), match_id, body, acceptance (for how many milliseconds they may accept), event,
--       then id…
-- Result: as that of proposal_create.lua; 'full' also when too many matches are claimed
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
local refusal = taken() or refuse_joining(now)
if not refusal and (tonumber(max_matches) > 0 and redis.call('ZCARD', claims) >= tonumber(max_matches)
  or not has_space(tonumber(outcome_size), results_limit)) then
  refusal = 'full'
end
if refusal then
  return {refusal, 0}
end
local changes, ids = {}, {}
for _, _, id in each_ticket() do
  redis.call('ZREM', waiting, id)
  ids[#ids + 1] = id
  changes[#changes + 1] = '-' .. id
  changes[#changes + 1] = ''
end
offer(match, match_id, body, first_key, #KEYS, acceptance, now, '')
redis.call('ZADD', claims, now + acceptance, match_id)
if outcome_size ~= '0' then
  count_outcome(match_id, outcome_size)
end
redis.call('HSET', backfill, HIDDEN, ASKING .. match_id)
describe(changes)
append_history({event, table.concat(ids, ' ')}, #ids)
return {'ok', append_feed(changes)}
