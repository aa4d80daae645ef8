-- Creates, replaces or deletes a party, if it is still what the caller read. A player is in one party at most, and a
-- code lets players join one party.
-- Full: runs
-- Uses: time
-- KEYS: party, parties, party_players, party_codes
-- ARGV: id, read (the revision that the caller read, '' = none), next_revision, body ('' = delete), silence (for how
--       many milliseconds members may be silent), only_silent (1 = nobody leaves who was heard of in that time), limit
--       (of parties), may_create (0 = Redis is short of memory), old_code, new_code, joined (how many of the players
--       join; the others leave), then player
-- Result: 'ok', 'changed' (read again), 'heard' (so nobody leaves), 'full', 'short' (of memory), 'code' (it is another
--         party's), or a player who is in a party already, behind '@'
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
    if math.min(tonumber(redis.call('HGET', party, HEARD .. ARGV[n])), now) + silence > now then
      return 'heard'
    end
  end
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
return 'ok'
