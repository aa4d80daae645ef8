-- Notes that somebody asked for tickets: that their players are there. Those that ended meanwhile are forgotten when
-- they are looked at (expire_unheard.lua).
-- Full: runs
-- Uses: time
-- KEYS: signs
-- ARGV: kept (for how many milliseconds this is known, at most), then id…
-- Result: how many tickets it noted
local now, heard = millis(), {}
for i = first_arg, #ARGV do
  heard[#heard + 1] = now
  heard[#heard + 1] = ARGV[i]
end
redis.call('ZADD', signs, unpack(heard))
redis.call('PEXPIRE', signs, kept)
return #heard / 2
