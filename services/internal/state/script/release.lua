-- Releases a match whose claim deadline has passed: its tickets wait again at their old
-- age. The match's body stays for a while: an allocator that still has it in hand gives the server back.
-- KEYS: seq, feed, waiting, claims, outbox, match, ended, then its ticket keys
-- ARGV: feed maxlen, match id, now, expiry of what is left of the match, then its ticket ids
-- Result: feed position; 0 when the deadline has not passed, or nothing was there to release
local deadline = redis.call('ZSCORE', KEYS[4], ARGV[2])
if not deadline or tonumber(deadline) > tonumber(ARGV[3]) then
  return 0
end
redis.call('ZREM', KEYS[4], ARGV[2])
redis.call('ZREM', KEYS[5], ARGV[2])
redis.call('HSET', KEYS[6], 's', 'x')
redis.call('ZADD', KEYS[7], ARGV[4], ARGV[2])
local fields = {}
for i = 8, #KEYS do
  if claimed_by(KEYS[i], ARGV[2]) then
    wait_again(KEYS[3], KEYS[i], ARGV[i - 3], fields)
  end
end
if #fields == 0 then
  return 0
end
return feed(ARGV[1], fields)
