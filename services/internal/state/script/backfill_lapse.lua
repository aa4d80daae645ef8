-- Makes the tickets wait again that were proposed to a backfill ticket and not approved in time. No function is shown
-- the backfill ticket until its server speaks again.
-- KEYS: seq, feed, told, history, waiting, proposed, backfill, its proposed tickets, then their ticket keys
-- ARGV: feed and history kept, id, now, event of the proposed tickets, then their ids
-- Result: 'ok', feed position; 'none' (not there, or the time is not over); or 'again', the ids of the proposed tickets
local id, bf, bp = ARGV[3], KEYS[7], KEYS[8]
local deadline = redis.call('ZSCORE', KEYS[6], id)
if not deadline or tonumber(deadline) >= tonumber(ARGV[4]) then
  return {'none'}
end
if not attached(bp, 6, 1) then
  return again(bp)
end
local fields, events = {}, {}
local rejected = reject(bf, bp, id, KEYS[6], KEYS[5], 9, 6, 1, fields, events, ARGV[5])
redis.call('HSET', bf, 'h', 'l')
show(bf, id, fields)
tell_some(events, rejected)
return {'ok', feed(fields)}
