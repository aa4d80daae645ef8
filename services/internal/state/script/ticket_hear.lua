-- Notes that somebody asked for tickets: that their players are there.
-- Full: runs
-- Uses: time
-- KEYS: waiting, signs
-- ARGV: kept (for how many milliseconds this is known, at most), then id…
-- Result: how many of them wait
--
-- Of a ticket that was claimed only what is noted already is renewed: it may have ended.
local now, waits, others = millis(), {}, {}
for i, created in ipairs(redis.call('ZMSCORE', waiting, unpack(ARGV, first_arg))) do
  local to = created and waits or others
  to[#to + 1] = now
  to[#to + 1] = ARGV[first_arg + i - 1]
end
if #waits > 0 then
  redis.call('ZADD', signs, unpack(waits))
end
if #others > 0 then
  redis.call('ZADD', signs, 'XX', unpack(others))
end
redis.call('PEXPIRE', signs, kept)
return #waits / 2
