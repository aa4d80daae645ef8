-- Deletes what nobody ended: of a set (waiting tickets, ended matches), what has a score that has passed.
-- KEYS: seq, feed, told, history, the set, then the keys of its members
-- ARGV: feed and history kept, 'w' when the set is that of waiting tickets, the latest score to delete,
--       event ('' = matches: nobody is told), then the members
-- Result: number deleted, feed position (0 when the waiting set did not change)
local fields, ids = {}, {}
for i = 6, #KEYS do
  local id = ARGV[i]
  local score = redis.call('ZSCORE', KEYS[5], id)
  if score and tonumber(score) <= tonumber(ARGV[4]) then
    redis.call('ZREM', KEYS[5], id)
    redis.call('DEL', KEYS[i])
    ids[#ids + 1] = id
    if ARGV[3] == 'w' then
      fields[#fields + 1] = '-' .. id
      fields[#fields + 1] = ''
    end
  end
end
if #ids > 0 and ARGV[5] ~= '' then
  tell({ARGV[5], table.concat(ids, ' ')}, #ids)
end
if #fields == 0 then
  return {#ids, 0}
end
return {#ids, feed(fields)}
