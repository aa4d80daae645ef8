-- Reads the server that is stored with a match, and keeps the match for longer.
-- Full: runs
-- Uses: time
-- KEYS: match, ended
-- ARGV: match_id, duration (for how many milliseconds to keep it at least)
-- Result: state of the match ('' = unknown), its server ('' = none is stored)
local state, server = unpack(redis.call('HMGET', match, STATE, SERVER))
if state == ASSIGNED and server then
  local current, expiry = redis.call('ZSCORE', ended, match_id), millis() + duration
  if current and tonumber(current) < expiry then
    redis.call('ZADD', ended, expiry, match_id)
  end
end
return {state or '', server or ''}
