-- The clock of scripts: Redis's, since no two hosts' clocks agree. What is judged by it comes as a duration.
-- ARGV: set_time (in microseconds: what a test says the time is; '' = Redis's own clock)

-- micros is the time in microseconds.
local function micros()
  if set_time ~= '' then
    return tonumber(set_time)
  end
  local time = redis.call('TIME')
  return time[1] * 1e6 + time[2]
end

-- millis is the time in milliseconds.
local function millis()
  return math.floor(micros() / 1000)
end

-- has_ended reports whether a lease of this duration has ended. One that lasts for more than a minute longer was
-- written by another clock, of a Redis before a failover, or of a host.
local function has_ended(expires, now, duration)
  return expires <= now or expires > now + duration + 60000
end

-- with_slack returns a time of patience, and as much again but a minute at most: Redis's clock may jump when another
-- server takes over, and what is deleted for its age is lost.
local function with_slack(patience)
  return patience + math.min(patience, 60000)
end

-- in_turn returns which of two hashes that take turns has its turn, and the other one.
local function in_turn(now, period, first, second)
  if math.floor(now / period) % 2 == 0 then
    return first, second
  end
  return second, first
end
