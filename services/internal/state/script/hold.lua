-- Keeps a match in its holder's hands for longer, or out of them.
-- KEYS: match
-- ARGV: holder, until when ('' = give it up)
-- Result: 1 when it is the holder's and its allocation is under way, else 0
local match = redis.call('HMGET', KEYS[1], 's', 'h')
if match[1] ~= 'a' or match[2] ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], 'h', 'u')
else
  redis.call('HSET', KEYS[1], 'u', ARGV[2])
end
return 1
