-- Deletes tickets that have waited for too long.
-- Full: runs
-- Uses: time, change, large, listed
-- KEYS: waiting, then ticket…
-- ARGV: patience (for how many milliseconds a ticket may wait), event, then id…
-- Result: number deleted, feed position (0 when none was)
local latest, changes, ids, lists = millis() - with_slack(tonumber(patience)), {}, {}, has_lists()
for _, ticket, id in each_ticket() do
  local created = redis.call('ZSCORE', waiting, id)
  if created and tonumber(created) <= latest then
    redis.call('ZREM', waiting, id)
    if lists then
      unlist(id, unpack(redis.call('HMGET', ticket, OWNER, PLAYERS)))
    end
    redis.call('DEL', ticket)
    ids[#ids + 1] = id
    changes[#changes + 1] = '-' .. id
    changes[#changes + 1] = ''
  end
end
if #ids == 0 then
  return {0, 0}
end
release(ids)
append_history({event, table.concat(ids, ' ')}, #ids)
return {#ids, append_feed(changes)}
