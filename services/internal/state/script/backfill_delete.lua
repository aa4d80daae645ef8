-- Deletes a backfill ticket, and makes the tickets that are proposed to it wait again.
-- KEYS: seq, feed, told, history, waiting, backfills, proposed, backfill, its proposed tickets, its joined tickets,
--       then the ticket keys of the proposed ones
-- ARGV: feed and history kept, id, delete it only if its server has not spoken since ('' = in any case),
--       match that it must belong to ('' = whichever), event of the proposed tickets, then their ids
-- Result: 'ok', feed position; 'none' (not there, or it has spoken); or 'again', the ids of the proposed tickets
local id, bf, bp = ARGV[3], KEYS[8], KEYS[9]
local spoke = redis.call('ZSCORE', KEYS[6], id)
if not spoke or (ARGV[4] ~= '' and tonumber(spoke) > tonumber(ARGV[4])) or not may_touch(bf, ARGV[5]) then
  return {'none'}
end
if not attached(bp, 7, 1) then
  return again(bp)
end
local fields, events = {}, {}
local rejected = reject(bf, bp, id, KEYS[7], KEYS[5], 11, 7, 1, fields, events, ARGV[6])
forget(bf, KEYS[10], id, KEYS[6], fields)
tell_some(events, rejected)
return {'ok', feed(fields)}
