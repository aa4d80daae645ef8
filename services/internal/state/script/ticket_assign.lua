-- Assigns waiting tickets to a running game at once, all or nothing: backfill of the first generation.
-- Uses: time, change
-- KEYS: waiting, resolved, then ticket…
-- ARGV: readable (for how many milliseconds the results are), event, then id, assignment…
-- Result: 'ok' or the id of a ticket that does not wait; feed position (0 unless 'ok'), then the body of each ticket
for _, ticket, id in each_ticket() do
  if redis.call('HGET', ticket, STATE) ~= WAITING then
    return {id, 0}
  end
end
local changes, ids, result = {}, {}, {'ok', 0}
for _, ticket, id, assignment in each_ticket() do
  redis.call('HSET', ticket, STATE, RESOLVED, ASSIGNMENT, assignment)
  redis.call('ZREM', waiting, id)
  ids[#ids + 1] = id
  changes[#changes + 1] = '-' .. id
  changes[#changes + 1] = ''
  result[#result + 1] = redis.call('HGET', ticket, BODY)
end
keep_results(ids, millis() + readable)
append_history({event, table.concat(ids, ' ')}, #ids)
result[2] = append_feed(changes)
return result
