-- Lends a match, whose server is to be given back, to one who tries: it is due again after a while, which grows with every try.
-- KEYS: returns, match
-- ARGV: match id, now, milliseconds to the second try, most milliseconds between two
-- Result: body of the match, or '' when it is not due
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not due or tonumber(due) > tonumber(ARGV[2]) then
  return ''
end
local body = redis.call('HGET', KEYS[2], 'b')
if not body then
  redis.call('ZREM', KEYS[1], ARGV[1])
  return ''
end
local tries = redis.call('HINCRBY', KEYS[2], 'n', 1)
redis.call('ZADD', KEYS[1], ARGV[2] + math.min(ARGV[3] * 2 ^ math.min(tries - 1, 30), ARGV[4]), ARGV[1])
return body
