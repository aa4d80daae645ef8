-- Deletes tickets whose results have been readable for long enough.
-- KEYS: seq, feed, told, history, resolved, then the keys of the tickets of all members
-- ARGV: feed and history kept, the latest score to delete, event, then the members: ids with spaces between
-- Result: number deleted; tickets that were deleted before do not count
local ids, k = {}, 5
for i = 5, #ARGV do
  local score = redis.call('ZSCORE', KEYS[5], ARGV[i])
  local due = score and tonumber(score) <= tonumber(ARGV[3])
  for id in string.gmatch(ARGV[i], '[^ ]+') do
    k = k + 1
    if due and redis.call('DEL', KEYS[k]) == 1 then
      ids[#ids + 1] = id
    end
  end
  if due then
    redis.call('ZREM', KEYS[5], ARGV[i])
  end
end
if #ids > 0 then
  tell({ARGV[4], table.concat(ids, ' ')}, #ids)
end
return #ids
