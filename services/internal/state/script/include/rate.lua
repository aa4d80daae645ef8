-- Functions of scripts that limit rates. A bucket is stored as the time at which it is full again. One that is not
-- stored is full. All times are in microseconds.

-- wait_for returns how long to wait until something can be taken out of a bucket, 0 = now. The bucket gains one each
-- interval, and holds burst/interval of them.
local function wait_for(full, now, interval, burst)
  return math.max(0, math.max(now, full) + interval - now - burst)
end

-- bounded returns when a bucket that was read is full again. A time that is longer than from empty was written by
-- another clock, of a Redis before a failover, or of a host. The bucket then holds one, so that it is written anew.
local function bounded(full, now, interval, burst)
  return full > now + burst and now + burst - interval or full
end

-- to_text returns a time as it is stored. Lua's own conversion would round it.
local function to_text(time)
  return string.format('%.0f', time)
end
