-- Reads the server that is stored with a match, and keeps the match for longer.
-- KEYS: match, ended
-- ARGV: match_id, expiry (the least time until when to keep it)
-- Result: state of the match ('' = unknown), its server ('' = none is stored)
local state, server = unpack(redis.call('HMGET', match, STATE, SERVER))
if state == ASSIGNED and server then
  local current = redis.call('ZSCORE', ended, match_id)
  if current and tonumber(current) < tonumber(expiry) then
    redis.call('ZADD', ended, expiry, match_id)
  end
end
return {state or '', server or ''}
