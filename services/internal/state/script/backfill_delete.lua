-- Deletes a backfill ticket, and makes the tickets that are proposed to it wait again.
-- Full: runs
-- Uses: time, change, backfill, proposal
-- KEYS: waiting, claims, backfills, proposed, backfill, proposals, joined, then ticket…
-- ARGV: backfill_id, silence (delete it only if its server has not called for as many milliseconds, '' = in any
--       case), match_id (that it must belong to, '' = any), rejected_event, then id…
-- Result: 'ok', feed position; 'none' (it does not exist, or its server has called); or 'again', the ids of the
--         proposed tickets
local called = redis.call('ZSCORE', backfills, backfill_id)
if not called or (silence ~= '' and tonumber(called) > millis() - with_slack(tonumber(silence))) then
  return {'none'}
end
if not is_accessible() then
  return {'none'}
end
if not are_proposed(1) then
  return again()
end
local changes, events = {}, {}
local rejected = reject(1, changes, events, rejected_event)
forget(changes)
if rejected > 0 then
  append_history(events, rejected)
end
return {'ok', append_feed(changes)}
