-- Functions that let players that declined a match, or did not answer it, pause. For each player it is stored
-- until when the pause lasts, in milliseconds, and how many there were one after the other. The players are in two
-- hashes, which take turns as the buckets' hashes do (buckets.lua): a hash is kept for one turn beyond its own,
-- so that each player is known for twice the longest pause at least. They use time.
-- KEYS: pauses_0, pauses_1
-- Reads: first_pause, longest_pause, pause_limit

-- pause_of returns until when a player pauses, 0 = unknown, and how many pauses there were. One that is longer than any
-- was written by another clock, of a Redis before a failover.
local function pause_of(player, now)
  local ends, count = 0, 0
  for _, hash in ipairs({pauses_0, pauses_1}) do
    local stored_end, stored_count = string.match(redis.call('HGET', hash, player) or '', '^(%d+) (%d+)$')
    if stored_end and tonumber(stored_end) > ends then
      ends, count = tonumber(stored_end), tonumber(stored_count)
    end
  end
  return math.min(ends, now + longest_pause), count
end

-- pause lets players pause from now on, each twice as long as the last time. A player who has missed no match for as
-- long as the longest pause begins anew. Players beyond the limit do not pause.
local function pause(players, now)
  if first_pause == '0' or #players == 0 then
    return
  end
  local period = 2 * longest_pause
  local hash = in_turn(now, period, pauses_0, pauses_1)
  for _, player in ipairs(players) do
    local ends, count = pause_of(player, now)
    if ends + longest_pause <= now then
      count = 0
    end
    if redis.call('HLEN', hash) < tonumber(pause_limit) or redis.call('HEXISTS', hash, player) == 1 then
      local time = math.min(first_pause * 2 ^ math.min(count, 30), longest_pause)
      redis.call('HSET', hash, player, string.format('%.0f %.0f', now + time, count + 1))
    end
  end
  redis.call('PEXPIRE', hash, string.format('%.0f', 2 * period - now % period))
end
