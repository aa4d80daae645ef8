-- Deletes what nobody ended: of a set (waiting or resolved tickets, ended matches), what has a score that has passed.
-- KEYS: seq, feed, the set, then the keys of its members
-- ARGV: feed maxlen, 'w' when the set is that of waiting tickets, the latest score to delete, then the members
-- Result: number deleted, feed position (0 when the waiting set did not change)
local fields, n = {}, 0
for i = 4, #KEYS do
  local id = ARGV[i]
  local score = redis.call('ZSCORE', KEYS[3], id)
  if score and tonumber(score) <= tonumber(ARGV[3]) then
    redis.call('ZREM', KEYS[3], id)
    redis.call('DEL', KEYS[i])
    n = n + 1
    if ARGV[2] == 'w' then
      fields[#fields + 1] = '-' .. id
      fields[#fields + 1] = ''
    end
  end
end
if #fields == 0 then
  return {n, 0}
end
return {n, feed(ARGV[1], fields)}
