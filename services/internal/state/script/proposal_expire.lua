-- Makes the tickets wait again that were proposed to a backfill ticket and not approved in time. Functions are not
-- shown the backfill ticket until its server calls again.
-- Full: runs
-- Uses: time, change, backfill, proposal
-- KEYS: waiting, claims, proposed, backfill, proposals, then ticket…
-- ARGV: backfill_id, rejected_event, then id…
-- Result: 'ok', feed position; 'none' (it does not exist, or there is time left); or 'again', the ids of the proposed
--         tickets
local deadline = redis.call('ZSCORE', proposed, backfill_id)
-- mistake overdue: deadline = deadline and deadline + 20000
if not deadline or tonumber(deadline) >= millis() then
  return {'none'}
end
if not are_proposed(1) then
  return again()
end
local changes, events = {}, {}
local rejected = reject(1, changes, events, rejected_event)
end_asking()
redis.call('HSET', backfill, HIDDEN, LAPSED)
describe(changes)
if rejected > 0 then
  append_history(events, rejected)
end
return {'ok', append_feed(changes)}
