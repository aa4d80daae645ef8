-- Releases a match whose claim deadline has passed: its tickets wait again at their old
-- age. The match's body stays for a while: an allocator that still has it in hand gives the server back.
-- KEYS: seq, feed, told, history, waiting, claims, outbox, match, ended, then its ticket keys
-- ARGV: feed and history kept, match id, now, expiry of what is left of the match, event, then its ticket ids
-- Result: 1 when it was released, 0 when its deadline has not passed or it had ended; feed position (0 when no ticket waits again)
local deadline = redis.call('ZSCORE', KEYS[6], ARGV[3])
if not deadline or tonumber(deadline) > tonumber(ARGV[4]) then
  return {0, 0}
end
redis.call('ZREM', KEYS[6], ARGV[3])
redis.call('ZREM', KEYS[7], ARGV[3])
redis.call('HSET', KEYS[8], 's', 'x')
redis.call('ZADD', KEYS[9], ARGV[5], ARGV[3])
local fields, ids = {}, {}
for i = 10, #KEYS do
  if claimed_by(KEYS[i], ARGV[3]) then
    wait_again(KEYS[5], KEYS[i], ARGV[i - 3], fields)
    ids[#ids + 1] = ARGV[i - 3]
  end
end
tell({ARGV[6], table.concat(ids, ' ')}, #ids)
if #ids == 0 then
  return {1, 0}
end
return {1, feed(fields)}
