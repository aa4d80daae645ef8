-- Ends a match whose deadline has passed, or that gets no server. Its tickets wait again at their old age. The backfill
-- ticket that was created with it is deleted. Functions are not shown a running game whose server did not approve in
-- time. When the match may have a server, its body stays until the server is deallocated. Otherwise nothing is kept of
-- it, and to services that work on it an unknown match has ended.
-- Full: runs
-- Uses: time, change, large, credit, credit_end, player, backfill, encoding, roster, place
-- KEYS: waiting, claims, joins, outbox, match, backfills, backfill, joining, joined, deallocations, then ticket…
-- ARGV: match_id, holder (that must have the lease; '' = release it only if its deadline has passed), event, place,
--       may_have_server ('1', '0', or '' = when one was asked for), then id…
-- Result: 1 when it was released, 0 when its deadline has not passed, another holder has it, its game has its server,
--         or it had ended; feed position (0 when nothing changed there), then the other matches that went to its game
--         and are to be released now
local now, game = millis(), game_of(place, backfill, joining, joined)
local deadline = redis.call('ZSCORE', claims, match_id)
if game and game.is_running then
  deadline = redis.call('ZSCORE', joins, match_id) or deadline
  now = now - 1 -- its server may approve until then
end
local state, current, lease_expires, contested, counted =
  unpack(redis.call('HMGET', match, STATE, HOLDER, LEASE_EXPIRES, CONTESTED, COUNTED))
-- mistake overdue: deadline = deadline and deadline + 20000
if not deadline or (holder == '' and tonumber(deadline) > now) or (holder ~= '' and current and current ~= holder)
  or tonumber(deadline) == SERVED then
  return {0, 0}
end
redis.call('ZREM', claims, match_id)
redis.call('ZREM', joins, match_id)
redis.call('ZREM', outbox, match_id)
local ends = {}
end_of_match(counted_to(state, counted), ends, '0', now)
note_ends(ends)
reopen_offered(state, counted, now)
release({OUTCOME .. match_id})
if may_have_server == '1' or contested or (may_have_server == '' and state == ALLOCATING) then
  local due = now
  -- A call for its server may still arrive: of the holder, or one whose answer was lost. Deallocate the server when the
  -- lease has expired, and once more after that.
  if may_have_server == '' and current then
    due = math.max(due, tonumber(lease_expires))
  end
  if may_have_server == '1' or contested or current then
    redis.call('HSET', match, CONFIRM, 1)
  end
  redis.call('ZADD', deallocations, due, match_id)
  redis.call('HSET', match, STATE, RELEASED)
  redis.call('HDEL', match, HOLDER, LEASE_EXPIRES, DEADLINE, COUNTED)
else
  redis.call('DEL', match)
end
local changes, ids, scores, others = {}, {}, {}, {}
for n = 0, #KEYS - first_key do
  local ticket, id = KEYS[first_key + n], ARGV[first_arg + n]
  local claimed, created = is_claimed(ticket, match_id)
  if claimed then
    requeue(ticket, id, created, changes, scores)
    ids[#ids + 1] = id
  end
end
call_all('ZADD', waiting, scores)
if game then
  if game.is_running then
    others = lapse(game, match_id, changes, now)
  elseif redis.call('EXISTS', backfill) == 1 then
    others = forget(game, changes)
  end
end
append_history({event, table.concat(ids, ' ')}, #ids)
return {1, append_feed(changes), unpack(others)}
