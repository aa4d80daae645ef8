-- Deletes a backfill ticket.
-- KEYS: backfill, backfills
-- ARGV: id
-- Result: 1 when it was there, else 0
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[1])
