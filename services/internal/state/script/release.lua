-- Releases a match whose claim deadline has passed, or that gets no server: its tickets wait again at their old
-- age, and so do those that were proposed to the backfill ticket that was created with it, which is deleted. When it may have
-- a server, its body stays until that was given back.
-- KEYS: seq, feed, told, history, waiting, claims, outbox, match, ended, backfill, its proposed tickets, its joined tickets,
--       proposed, backfills, returns, then the match's ticket keys, then those of the proposed ones
-- ARGV: feed and history kept, match id, the latest deadline that has passed ('inf' = whichever it is), expiry of what is left of the
--       match, event, id of the backfill ticket ('' = none), event of the proposed tickets, number of the match's tickets,
--       whether it may have a server (1, 0, or '' = when one was asked for), now, then the tickets' ids, then those of the proposed ones
-- Result: 1 when it was released, 0 when its deadline has not passed or it had ended; feed position (0 when no ticket waits again);
--         or 'again', the ids of the proposed tickets
local deadline = redis.call('ZSCORE', KEYS[6], ARGV[3])
if not deadline or tonumber(deadline) > tonumber(ARGV[4]) then
  return {0, 0}
end
local n = tonumber(ARGV[9])
local backfill = ARGV[7] ~= '' and redis.call('EXISTS', KEYS[10]) == 1
if backfill and not attached(KEYS[11], 12 + n, 1) then
  return again(KEYS[11])
end
redis.call('ZREM', KEYS[6], ARGV[3])
redis.call('ZREM', KEYS[7], ARGV[3])
local match = redis.call('HMGET', KEYS[8], 's', 'u')
redis.call('HSET', KEYS[8], 's', 'x')
if ARGV[10] == '1' or (ARGV[10] == '' and match[1] == 'a') then
  local due = tonumber(ARGV[11])
  if ARGV[10] == '' and match[2] then
    -- Its holder may still be asking: not before it has stopped, and then once more.
    due = math.max(due, tonumber(match[2]))
    redis.call('HSET', KEYS[8], 'z', 1)
  end
  redis.call('ZADD', KEYS[15], due, ARGV[3])
else
  redis.call('HDEL', KEYS[8], 'b')
  redis.call('ZADD', KEYS[9], ARGV[5], ARGV[3])
end
redis.call('HDEL', KEYS[8], 'h', 'u', 'e')
local fields, ids = {}, {}
for i = 16, 15 + n do
  if claimed_by(KEYS[i], ARGV[3]) then
    wait_again(KEYS[5], KEYS[i], ARGV[i - 4], fields)
    ids[#ids + 1] = ARGV[i - 4]
  end
end
local events, moved = {ARGV[6], table.concat(ids, ' ')}, #ids
if backfill then
  moved = moved + reject(KEYS[10], KEYS[11], ARGV[7], KEYS[13], KEYS[5], 16 + n, 12 + n, 1, fields, events, ARGV[8])
  forget(KEYS[10], KEYS[12], ARGV[7], KEYS[14], fields)
end
tell(events, moved)
if #fields == 0 then
  return {1, 0}
end
return {1, feed(fields)}
