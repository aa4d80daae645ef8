-- Deletes tickets that have waited for too long.
-- Uses: change, large
-- KEYS: waiting, then ticket…
-- ARGV: latest (time of creation to delete), event, then id…
-- Result: number deleted, feed position (0 when none was)
local changes, ids = {}, {}
for _, ticket, id in each_ticket() do
  local created = redis.call('ZSCORE', waiting, id)
  if created and tonumber(created) <= tonumber(latest) then
    redis.call('ZREM', waiting, id)
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
