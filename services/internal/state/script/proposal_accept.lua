-- Proposes the tickets of a match that asked its players whether they go to a running game, and which all of them
-- accepted. From now on its server may approve. When the game changed or ended meanwhile, its server is silent, or it
-- has no room any more, the tickets wait again at their old age.
-- Full: runs
-- Uses: time, change, large, backfill, player, roster, propose
-- KEYS: waiting, claims, match, backfills, backfill, proposals, proposed, outcome, then ticket…
-- ARGV: approval_time (in milliseconds), backfill_id, new_body ('=' and what the function made of the backfill ticket,
--       '' = nothing), limit (number of proposed tickets from which on they must be approved first), max_proposed
--       (tickets), bytes_limit (of all backfill tickets, 0 = none), match_id, outcome_body ('' = none), event,
--       released_event, then id, assignment…
-- Result: 'ok', or 'game' when the tickets wait again, and the feed's position; or 'other', 0 when not all of its
--         players accepted, or the match ended before
if redis.call('HGET', match, STATE) ~= ACCEPTED then
  return {'other', 0}
end
local now = millis()
local is_held = asking_match(redis.call('HGET', backfill, HIDDEN)) == match_id
local refusal, promised = 'game', nil
if is_held then
  refusal, promised = refuse_joining(now)
  redis.call('HDEL', backfill, HIDDEN)
  if is_silent(now) then
    refusal = 'silent'
    redis.call('HSET', backfill, HIDDEN, LAPSED)
  end
end
local changes, ids, scores = {}, {}, {}
for _, ticket, id, assignment in each_ticket() do
  local claimed, created = is_claimed(ticket, match_id)
  if claimed and refusal then
    requeue(ticket, id, created, changes, scores)
  elseif claimed then
    redis.call('HSET', ticket, STATE, PROPOSED, RESERVED_BY, backfill_id)
    redis.call('HDEL', ticket, ASKED)
    redis.call('HSET', proposals, id, assignment)
  end
  if claimed then
    ids[#ids + 1] = id
  end
end
redis.call('ZREM', claims, match_id)
redis.call('DEL', match)
if refusal then
  wait_again(scores)
  release({OUTCOME .. match_id})
else
  propose(promised, limit, now)
end
if is_held then
  describe(changes)
end
append_history({refusal and released_event or event, table.concat(ids, ' ')}, #ids)
return {refusal and 'game' or 'ok', #changes > 0 and append_feed(changes) or 0}
