-- Counts the bytes of some backfill tickets again. A process of an older version changes and deletes them without that.
-- Full: runs
-- Uses: backfill
-- KEYS: then backfill…
-- ARGV: then id…
-- Result: number of those that exist
local count = 0
for _, backfill_key, id in each_backfill() do
  local body, proposed_body, connection, allocated =
    unpack(redis.call('HMGET', backfill_key, BODY, PROPOSED_BODY, CONNECTION, ALLOCATED))
  keep_size(id, size_of(body, proposed_body, connection, allocated, roster_size(backfill_key)))
  if body then
    count = count + 1
  end
end
return count
