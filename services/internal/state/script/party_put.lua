-- Creates, replaces or deletes a party, if it is still what the caller read. A player is in one party at most, and a
-- code lets players join one party. A search that the party does not name any more ends in the same step, unless it has
-- its result: as ticket_delete.lua says. No player joins while a match asks the players of the search: a stranger must
-- not decline it.
-- Full: runs
-- Uses: time, change, large, listed, ended, encoding, acceptance, pause, leave
-- KEYS: party, parties, party_players, party_codes, waiting, resolved, claims, match (that asks the players of the
--       search), ticket (of the search that ends)
-- ARGV: id, read (the revision that the caller read, '' = none), next_revision, body ('' = delete), silence (for how
--       many milliseconds members may be silent), only_silent (1 = no member that was heard of in that time leaves),
--       limit (of parties), may_create (0 = Redis is short of memory), old_code, new_code, ticket_id (of the search
--       that ends, '' = none), match_id ('' = unknown, or none), leaver (the player that ends it, '' = none of it),
--       by_service ('1' = with a service token), told_time (for how many milliseconds its end is), event (without its
--       reason), first_pause, longest_pause (in milliseconds, 0 = players that declined do not pause), pause_limit,
--       missing (its players that decline by that, with newlines between), joined (how many of the players join; the
--       others leave), then player
-- Result: 'ok', 1 when the search ended, else 0, 1 when that ended the acceptance of its match, else 0, and '';
--         'again', 0, 0 and the match that asks its players; or alone 'changed' (read again), 'heard' (so none leaves),
--         'full', 'short' (of memory), 'code' (it is another party's), 'asked' (so none joins), or a player that is in
--         a party already, behind '@'
local current = redis.call('HGET', party, VERSION) or ''
if current ~= read then
  return 'changed'
end
if body ~= '' and current == '' then
  if may_create == '0' then
    return 'short'
  end
  if redis.call('ZCARD', parties) >= tonumber(limit) then
    return 'full'
  end
end
if body ~= '' and new_code ~= old_code and redis.call('HEXISTS', party_codes, new_code) == 1 then
  return 'code'
end
local first_left = first_arg + joined
for n = first_arg, first_left - 1 do
  -- mistake twofold: do break end
  if redis.call('HEXISTS', party_players, ARGV[n]) == 1 then
    return '@' .. ARGV[n]
  end
end
local now = millis()
if only_silent == '1' then
  for n = first_left, #ARGV do
    if math.min(tonumber(redis.call('HGET', party, HEARD .. ARGV[n])) or 0, now) + silence > now then
      return 'heard'
    end
  end
end
local ended, declined = 0, 0
-- mistake loose: ticket_id = ''
if ticket_id ~= '' then
  if joined ~= '0' then
    local state, asks = unpack(redis.call('HMGET', ticket, STATE, ASKED))
    if state == CLAIMED and asks then
      return 'asked'
    end
  end
  local left = leave(ticket, match, '', '1')
  if left[1] == 'again' then
    return left
  end
  ended, declined = left[1] ~= '' and 1 or 0, left[3]
end
if body == '' then
  redis.call('DEL', party)
  redis.call('ZREM', parties, id)
  redis.call('HDEL', party_codes, old_code)
else
  redis.call('HSET', party, BODY, body, VERSION, next_revision)
  redis.call('ZADD', parties, 'NX', now + silence, id)
  if new_code ~= old_code then
    redis.call('HDEL', party_codes, old_code)
    redis.call('HSET', party_codes, new_code, id)
  end
end
for n = first_arg, #ARGV do
  if n < first_left then
    redis.call('HSET', party_players, ARGV[n], id)
    redis.call('HSET', party, HEARD .. ARGV[n], now)
  else
    redis.call('HDEL', party_players, ARGV[n])
    if body ~= '' then
      redis.call('HDEL', party, HEARD .. ARGV[n])
    end
  end
end
return {'ok', ended, declined, ''}
