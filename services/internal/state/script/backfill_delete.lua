-- Deletes a backfill ticket.
-- Full: runs
-- Uses: time, change, backfill
-- KEYS: claims, joins, backfills, backfill, joining, joined
-- ARGV: backfill_id, silence (delete it only if its server has not called for as many milliseconds, '' = in any
--       case), match_id (that it must belong to, '' = any)
-- Result: feed position, 0 when it does not exist or its server has called; then the matches that went to its game,
--         which are to be released now
local game = {id = backfill_id, key = backfill, open = joining, joined = joined}
local called = redis.call('ZSCORE', backfills, backfill_id)
if not called or (silence ~= '' and tonumber(called) > millis() - with_slack(tonumber(silence)))
  or not is_accessible(game, match_id) then
  return {0}
end
local changes = {}
local ids = forget(game, changes)
return {append_feed(changes), unpack(ids)}
