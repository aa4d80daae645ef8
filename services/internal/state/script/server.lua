-- Reads what is kept of a match's server, and keeps it for longer.
-- KEYS: match, ended
-- ARGV: match id, until when it is to be kept at least
-- Result: state of the match ('' = unknown), what is kept of its server ('' = nothing)
local match = redis.call('HMGET', KEYS[1], 's', 'v')
if match[1] == 'd' and match[2] then
  local until_now = redis.call('ZSCORE', KEYS[2], ARGV[1])
  if until_now and tonumber(until_now) < tonumber(ARGV[2]) then
    redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
  end
end
return {match[1] or '', match[2] or ''}
