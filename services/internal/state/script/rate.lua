-- Prelude of scripts that limit rates. A bucket is the time, in microseconds, at
-- which it is full again: one that is not stored is full.

-- after says in how many microseconds one can be taken out of a bucket, 0 = now. It gains one
-- each interval and holds burst/interval of them, all in microseconds.
local function after(full, now, interval, burst)
  return math.max(0, math.max(now, full) + interval - now - burst)
end

-- text is a time as it is stored: Lua would round it.
local function text(time)
  return string.format('%.0f', time)
end
