-- Assigns waiting tickets to a running game at once, all or nothing: backfill of the first generation.
-- Full: runs
-- Uses: time, change, large, player
-- KEYS: waiting, resolved, outcome, then ticket…
-- ARGV: readable (for how many milliseconds the results are), results_limit (bytes of all large tickets and outcomes,
--       0 = none), outcome_id, outcome_body ('' = none), compare ('0' = its tickets have no player in common),
--       event, then id, assignment…
-- Result: 'ok', 'full' (the outcomes would be too large), 'players' (one of them is in two of the tickets) or the id of
--         a ticket that does not wait; feed position (0 unless 'ok'), then the body of each ticket ('' = it is to be
--         read, the reply would be too large)
local sent = 0
for n = 0, #KEYS - first_key do
  local ticket, id = KEYS[first_key + n], ARGV[first_arg + 2 * n]
  if redis.call('HGET', ticket, STATE) ~= WAITING then
    return {id, 0}
  end
end
if compare == '1' and has_player_twice(first_key, #KEYS) then
  return {'players', 0}
end
if not has_space(#outcome_body, results_limit) then
  return {'full', 0}
end
local ids, result = {}, {'ok', 0}
for n = 0, #KEYS - first_key do
  local ticket, id, assignment = KEYS[first_key + n], ARGV[first_arg + 2 * n], ARGV[first_arg + 2 * n + 1]
  redis.call('HSET', ticket, STATE, RESOLVED, ASSIGNMENT, assignment)
  redis.call('ZREM', waiting, id)
  ids[#ids + 1] = id
  local body = sent < REPLY and redis.call('HGET', ticket, BODY) or ''
  sent = sent + #body
  result[#result + 1] = body
end
local now = millis()
keep_outcome(outcome, outcome_id, outcome_body, now + readable)
keep_results(ids, #ids, now, readable)
append_history({event, table.concat(ids, ' ')}, #ids)
result[2] = append_feed({'-', table.concat(ids, ' ')})
return result
