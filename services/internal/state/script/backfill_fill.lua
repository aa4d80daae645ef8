-- Assigns the tickets of a match to a running game at once, all or nothing: backfill of the first generation.
-- KEYS: seq, feed, told, history, waiting, resolved, then the ticket keys
-- ARGV: feed and history kept, expiry of the resolved, event, then id, assignment of each ticket
-- Result: 'ok' or the id of a ticket that does not wait; feed position (0 unless 'ok'), then the body of each ticket
for i = 7, #KEYS do
  if redis.call('HGET', KEYS[i], 's') ~= 'w' then
    return {ARGV[2 * i - 9], 0}
  end
end
local fields, ids, result = {}, {}, {'ok', 0}
for i = 7, #KEYS do
  local id = ARGV[2 * i - 9]
  redis.call('HSET', KEYS[i], 's', 'r', 'a', ARGV[2 * i - 8])
  redis.call('ZREM', KEYS[5], id)
  ids[#ids + 1] = id
  fields[#fields + 1] = '-' .. id
  fields[#fields + 1] = ''
  result[#result + 1] = redis.call('HGET', KEYS[i], 'b')
end
resolve(KEYS[6], ARGV[3], ids)
tell({ARGV[4], table.concat(ids, ' ')}, #ids)
result[2] = feed(fields)
return result
