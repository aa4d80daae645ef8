-- Reads a backfill ticket for its server, and notes that the server lives.
-- KEYS: backfill, backfills
-- ARGV: id, now
-- Result: {body, version, created}, or {} when there is none
local ticket = redis.call('HMGET', KEYS[1], 'b', 'v', 'c')
if not ticket[1] then
  return {}
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return {ticket[1], tonumber(ticket[2]), tonumber(ticket[3])}
