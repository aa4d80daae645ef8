-- Ends tickets that have waited for too long.
-- Full: runs
-- Uses: time, change, large, listed, ended
-- KEYS: waiting, resolved, then ticket…
-- ARGV: patience (for how many milliseconds a ticket may wait), told_time (for how many milliseconds the reason is),
--       reason, event, then id…
-- Result: number ended, feed position (0 when none was), then the ids of those whose end is told
local now = millis()
local latest, changes, ids, lists = now - with_slack(tonumber(patience)), {}, {}, has_lists()
local told, deleted = {}, {}
for _, ticket, id in each_ticket() do
  local created = redis.call('ZSCORE', waiting, id)
  if created and tonumber(created) <= latest then
    redis.call('ZREM', waiting, id)
    local owner, its_players, is_told = unpack(redis.call('HMGET', ticket, OWNER, PLAYERS, TELLS))
    if lists and not is_told then
      unlist(id, owner, its_players)
    end
    end_ticket(ticket, id, is_told, reason, told, deleted)
    ids[#ids + 1] = id
    changes[#changes + 1] = '-' .. id
    changes[#changes + 1] = ''
  end
end
if #ids == 0 then
  return {0, 0}
end
release(deleted)
keep_ends(told, now)
append_history({event, table.concat(ids, ' ')}, #ids)
return {#ids, append_feed(changes), unpack(told)}
