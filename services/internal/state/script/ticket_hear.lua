-- Notes that somebody asked for tickets that wait: that their players are there. Of those that do not, it is noted
-- again if it is known: they may wait again.
-- Full: runs
-- Uses: time
-- KEYS: waiting, signs
-- ARGV: kept (for how many milliseconds this is known, at most), spare (of how many tickets more than twice those
--       that wait it is known), then id…
-- Result: how many tickets it noted
--
-- What is known of tickets that ended meanwhile goes when they are looked at (expire_unheard.lua). Until then it counts
-- to a limit, beyond which only what is known is renewed. Of others it is not known that they are silent.
local now, heard, others = millis(), {}, {}
for i, created in ipairs(redis.call('ZMSCORE', waiting, unpack(ARGV, first_arg))) do
  local list = created and heard or others
  list[#list + 1] = now
  list[#list + 1] = ARGV[first_arg + i - 1]
end
if #others > 0 then
  redis.call('ZADD', signs, 'XX', unpack(others))
end
if #heard == 0 then
  return 0
end
local number = redis.call('ZCARD', signs)
if number > tonumber(spare) and number > 2 * redis.call('ZCARD', waiting) + spare then
  redis.call('ZADD', signs, 'XX', unpack(heard))
else
  redis.call('ZADD', signs, unpack(heard))
end
redis.call('PEXPIRE', signs, kept)
return #heard / 2
