-- Ends the acceptance of a match. When all players accepted, the match goes on: one that needs a server is in the
-- outbox from now on, and the server of a running game may approve. Otherwise the match ends. Its tickets whose players
-- declined end, and when the time is over also tickets whose players did not answer. All others wait again at their old
-- age. No player is taken for silent if no service may have taken answers, or the answer may be in another Redis: then
-- tickets without an answer wait again, too. The backfill ticket that was created with the match is deleted. The
-- backfill ticket of a running game is shown to functions again. When the game changed or ended meanwhile, or its
-- server is silent, the match ends, and no player is silent.
-- Full: runs
-- Uses: time, change, large, listed, ended, credit, credit_end, pause, player, primary, backfill, encoding, roster,
--       place, acceptance
-- KEYS: waiting, resolved, claims, joins, outbox, match, backfills, backfill, joining, joined, then ticket…
-- ARGV: match_id, told_time (for how long an end is told), claim_time (until the tickets wait again), approval_time
--       (the same for a running game), acceptance (for how long its players could accept), watched (since when
--       they could) (all five in milliseconds), target ('' = it needs no server), event (when it ends), ended_event (of
--       tickets that end) (both without their reason), place, made ('=' and what the function made of the running
--       game's backfill ticket, '' = nothing), first_pause, longest_pause (in milliseconds, 0 = players that
--       declined or were silent do not pause), pause_limit, then id…
-- Result: 'accepted' or 'ended', and the feed's position (0 when nothing changed there), the tickets that ended since a
--         player declined, since one was silent, and the matches that went to its backfill ticket and are to be
--         released now, all with spaces between; or 'other' alone when the players may still answer or were not asked
local now, due = millis(), redis.call('ZSCORE', claims, match_id)
local state, counted, asked_by = unpack(redis.call('HMGET', match, STATE, COUNTED, ASKED_BY))
if not due or tonumber(due) > now or state ~= OFFERED and state ~= ACCEPTED and state ~= DECLINED then
  return 'other'
end
local game, changes = game_of(place, backfill, joining, joined), {}
if game then
  game.made = made
end
local is_joining = game and game.is_running
local has_changed = is_joining and (redis.call('HEXISTS', joining, match_id) == 0 or is_silent(game, now))
if state == ACCEPTED and not has_changed then
  if place == '' then
    return {'accepted', 0, '', '', ''} -- it ends in one step with its results
  end
  forget_answers(match)
  for n = 0, #KEYS - first_key do
    local ticket = KEYS[first_key + n]
    redis.call('HDEL', ticket, ASKED)
  end
  redis.call('HSET', match, STATE, CLAIMED, COUNTED, counted)
  local position = 0
  if is_joining then
    redis.call('ZREM', claims, match_id)
    join(game, match_id, approval_time, now)
    describe(game, changes, now)
    position = append_feed(changes)
  else
    redis.call('ZADD', claims, now + claim_time, match_id)
    if target ~= '' then
      redis.call('ZADD', outbox, now, match_id)
      open_match(counted)
    end
  end
  return {'accepted', position, '', '', ''}
end

local silent, said = state == OFFERED and not has_changed, {}
local is_known = now - watched <= tonumber(redis.call('HGET', match, DEADLINE)) - acceptance and asked_by == primary()
local answers = redis.call('HGETALL', match)
for i = 1, #answers, 2 do
  said[answers[i]] = answers[i + 1]
end
-- fate returns why a ticket ends, nil when it waits again. missed are the players that caused an end.
local missed = {}
local function fate(names)
  local reason
  for name in string.gmatch(names, '[^\n]+') do
    local answer = said[ANSWER .. name]
    -- mistake willing: answer = answer == NO and NO or nil
    if answer == NO then
      reason = 'declined'
      -- mistake pardoned: reason = nil
      missed[#missed + 1] = name
    elseif not answer and silent and is_known then
      reason = reason or 'silent'
      missed[#missed + 1] = name
    end
  end
  return reason
end
local ids, scores, ended = {}, {}, {declined = {}, silent = {}}
local told, deleted = {}, {}
for n = 0, #KEYS - first_key do
  local ticket, id = KEYS[first_key + n], ARGV[first_arg + n]
  local ticket_state, reserved_by, created, owner, its_players, is_told =
    unpack(redis.call('HMGET', ticket, STATE, RESERVED_BY, CREATED, OWNER, PLAYERS, TELLS))
  if ticket_state == CLAIMED and reserved_by == match_id then
    local reason = fate(its_players or owner)
    if reason then
      end_ticket(ticket, id, owner, its_players, is_told, reason, told, deleted)
      table.insert(ended[reason], id)
    else
      requeue(ticket, id, created, changes, scores)
      ids[#ids + 1] = id
    end
  end
end
call_all('ZADD', waiting, scores)
pause(missed, now)
redis.call('ZREM', claims, match_id)
redis.call('DEL', match)
-- mistake unopened: target = ''
-- The target may have been closed for all matches but this one.
if target ~= '' then
  reopen_target(counted, now)
end
local events = {}
for _, reason in ipairs({'declined', 'silent'}) do
  if #ended[reason] > 0 then
    add(events, because(ended_event, reason), table.concat(ended[reason], ' '))
  end
end
add(events, because(event, silent and 'silent' or state == DECLINED and 'declined' or 'game'), table.concat(ids, ' '))
local moved = #ids + #ended.declined + #ended.silent
deleted[#deleted + 1] = OUTCOME .. match_id
release(deleted)
keep_ends(told, now)
local others = {}
if is_joining and redis.call('HDEL', joining, match_id) == 1 then
  redis.call('HDEL', backfill, HIDDEN)
  if is_silent(game, now) then
    redis.call('HSET', backfill, HIDDEN, LAPSED)
  end
  describe(game, changes, now)
elseif game and not is_joining and redis.call('EXISTS', backfill) == 1 then
  others = forget(game, changes)
end
append_history(events, moved)
return {'ended', append_feed(changes), table.concat(ended.declined, ' '), table.concat(ended.silent, ' '),
  table.concat(others, ' ')}
