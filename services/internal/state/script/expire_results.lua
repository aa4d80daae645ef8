-- Deletes tickets whose results have been readable for long enough.
-- Full: runs
-- Uses: time, change, large, listed
-- KEYS: resolved, then the tickets of all members
-- ARGV: event, then the members: ids with spaces between, and '-' before ids whose end was told (include/ended.lua)
-- Result: number deleted; tickets that were deleted before do not count
local now, ids, k, ended = millis(), {}, first_key, {}
for a = first_arg, #ARGV do
  local member = ARGV[a]
  local expiry = redis.call('ZSCORE', resolved, member)
  local due = expiry and tonumber(expiry) <= now
  for id in string.gmatch(member, '[^ ]+') do
    local ticket = KEYS[k]
    if due and has_lists() then
      local owner, its_players = unpack(redis.call('HMGET', ticket, OWNER, PLAYERS))
      if owner then
        unlist(id, owner, its_players)
      end
    end
    if due and redis.call('DEL', ticket) == 1 then
      local list = string.sub(member, 1, 2) == '- ' and ended or ids
      list[#list + 1] = id
    end
    k = k + 1
  end
  if due then
    redis.call('ZREM', resolved, member)
  end
end
if #ids > 0 then
  release(ids)
  append_history({event, table.concat(ids, ' ')}, #ids)
end
release(ended)
return #ids + #ended
