-- Stores the answers of a ticket's players to the match that asks them. When all players of the match have accepted, or
-- the first declines, the acceptance is over: acceptance_end.lua does the rest.
-- Full: runs
-- Uses: time, change, encoding, acceptance
-- KEYS: claims, match, ticket
-- ARGV: match_id, id, answer ('1' = they accept, '0' = they decline), event (without its player), then player… (none
--       = all players of the ticket)
-- Result: 'ok' and 1 when this answer ended the acceptance, else 0; 'gone', 0 when there is no such ticket; 'stranger'
--         and the number from 1 of a player that the ticket does not have; 'other', 0 when this match has not claimed
--         the ticket; or 'over', 0 when the acceptance has ended
local state, reserved_by, asks, owner, its_players =
  unpack(redis.call('HMGET', ticket, STATE, RESERVED_BY, ASKED, OWNER, PLAYERS))
if not state then
  return {'gone', 0}
end
local number, names, position = {}, {}, 0
for name in string.gmatch(its_players or owner, '[^\n]+') do
  position = position + 1
  number[name], names[position] = its_players and position or 0, name
end
if #ARGV >= first_arg then
  names = {}
  for i = first_arg, #ARGV do
    if not number[ARGV[i]] then
      return {'stranger', i - first_arg + 1}
    end
    names[#names + 1] = ARGV[i]
  end
end
if state ~= CLAIMED or reserved_by ~= match_id then
  return {'other', 0}
end
if asks ~= match_id then
  return {answer == YES and 'ok' or 'over', 0} -- all players have accepted, so these have
end
local phase, asked, deadline = unpack(redis.call('HMGET', match, STATE, ASKED, DEADLINE))
local changed, seen = {}, {}
for _, name in ipairs(names) do
  if not seen[name] and redis.call('HGET', match, ANSWER .. name) ~= answer then
    changed[#changed + 1] = name
  end
  seen[name] = true
end
if #changed == 0 then
  return {'ok', 0}
end
local is_open = phase == OFFERED and tonumber(deadline) > millis()
if not is_open and not (phase == ACCEPTED and answer == NO) then
  return {'over', 0}
end
local events = {}
for _, name in ipairs(changed) do
  redis.call('HSET', match, ANSWER .. name, answer)
  -- Field 13 of pb.Event: fields may be in any order.
  add(events, event .. (number[name] > 0 and 'h' .. varint(number[name]) or ''), id)
end
append_history(events, #changed)
if answer == NO then
  disagree(match, match_id)
  return {'ok', 1}
end
-- mistake unasked: asked = 1
if redis.call('HINCRBY', match, AGREED, #changed) < tonumber(asked) then
  return {'ok', 0}
end
redis.call('HSET', match, STATE, ACCEPTED)
redis.call('ZADD', claims, 'XX', 0, match_id)
return {'ok', 1}
