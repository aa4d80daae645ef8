-- Notes a request for tickets that wait: their players are there. Of other tickets it renews only a noted request: they
-- may wait again.
-- Full: runs
-- Uses: time
-- KEYS: waiting, last_seen
-- ARGV: kept (for how many milliseconds a request is known, at most), spare (of how many tickets more than twice the
--       waiting ones it is known), then id…
-- Result: how many tickets it noted
--
-- expire_unheard.lua forgets the requests for ended tickets. Until then they count to a limit, beyond which this script
-- only renews known ones. Tickets without a known request are never silent.
local now, heard, others = millis(), {}, {}
for i, created in ipairs(redis.call('ZMSCORE', waiting, unpack(ARGV, first_arg))) do
  local list = created and heard or others
  list[#list + 1] = now
  list[#list + 1] = ARGV[first_arg + i - 1]
end
if #others > 0 then
  redis.call('ZADD', last_seen, 'XX', unpack(others))
end
if #heard == 0 then
  return 0
end
local number = redis.call('ZCARD', last_seen)
if number > tonumber(spare) and number > 2 * redis.call('ZCARD', waiting) + spare then
  redis.call('ZADD', last_seen, 'XX', unpack(heard))
else
  redis.call('ZADD', last_seen, unpack(heard))
end
redis.call('PEXPIRE', last_seen, kept)
return #heard / 2
