-- Functions of scripts that end matches which need a server, or learn that there is none. They use credit.
-- Reads: hosting_windows, served

-- counted_to returns the target that a match in this state counts to, '' = none. counted is what its claim noted.
local function counted_to(state, counted)
  return (state == CLAIMED or state == ALLOCATING) and counted or ''
end

-- note_served notes that hosting gave a server of a match's target. Targets that were not served for long make room.
local function note_served(names, now)
  local own = string.match(names, '^(%S+) ')
  local last = own and tonumber(redis.call('ZSCORE', served, own) or 0)
  if not own or last > now - UNUSED and last <= now then
    return
  end
  if last == 0 and redis.call('ZCARD', served) >= KNOWN then
    redis.call('ZREMRANGEBYSCORE', served, '-inf', now - MEMORY)
    redis.call('ZREMRANGEBYSCORE', served, now + LOST, '+inf') -- noted by another clock, before a failover
    if redis.call('ZCARD', served) >= KNOWN then
      return
    end
  end
  redis.call('ZADD', served, now, own)
end

-- close_target notes that a target has no server now. It reports whether that was not told for a while.
local function close_target(name, now, pause)
  local window, open, due = credit_of(name)
  if window > 0 then
    redis.call('HSET', hosting_windows, WINDOW .. name, 0)
  end
  if due == 0 then
    redis.call('HSET', hosting_windows, DUE .. name, now + (open > 0 and LOST or RETRY))
  end
  local told = tonumber(redis.call('HGET', hosting_windows, TOLD .. name) or 0)
  if told > now - pause and told <= now then
    return false
  end
  redis.call('HSET', hosting_windows, TOLD .. name, now)
  return true
end

-- reopen_target lets another match try a target that is closed, since the one that was to try it ended before.
local function reopen_target(name, now)
  local due = redis.call('HGET', hosting_windows, DUE .. name)
  if due and tonumber(due) > now then
    redis.call('HSET', hosting_windows, DUE .. name, now)
  end
end

-- reopen_offered is reopen_target for a match that ended while it counted to no target: Redis lost its acceptance.
local function reopen_offered(state, counted, now)
  if counted and (state == OFFERED or state == ACCEPTED or state == DECLINED) then
    reopen_target(counted, now)
  end
end

-- end_of_match notes in ends that a match of a target ended. answer is '1' when hosting gave a server or said that it
-- never will, '0' when it did not answer in time, and '' when it was not asked. It returns true when matches that had
-- to wait may be claimed. note_ends must follow.
local function end_of_match(name, ends, answer, now)
  if name == '' then
    return false
  end
  local t = ends[name]
  if not t then
    local window, open, due, waited = credit_of(name)
    t = {window = window, due = due, waited = waited, open = open, stored_window = window, stored_due = due,
      stored_waited = waited}
    ends[name] = t
  end
  t.open = math.max(0, t.open - 1)
  if answer == '0' then
    t.window = t.window >= 16 and math.floor(t.window / 2) or 0
  elseif answer == '1' and t.window < first_window(name) then
    t.window = t.window + 8
  elseif answer == '1' and t.waited then
    t.window = t.window + 1
  end
  t.unused = t.open == 0 and t.window >= first_window(name) and not t.waited
  if t.unused then
    return false
  elseif t.window < 8 and t.open == 0 then
    t.due = now + (answer == '0' and RETRY or 0)
  elseif t.window < 8 or t.open == 0 then
    t.due = now + LOST
  elseif answer == '1' then
    t.due = 0
  end
  if t.waited == '1' and t.window >= 8 and t.open * 8 <= t.window * 3 / 4 then
    t.waited = '2' -- it is said once
    return true
  end
  return false
end

-- note_ends writes what end_of_match noted.
local function note_ends(ends)
  for name, t in pairs(ends) do
    if t.unused then
      forget_target(name)
    else
      local changed = {OPEN .. name, t.open}
      if t.window ~= t.stored_window then
        changed[3], changed[4] = WINDOW .. name, t.window
      end
      if t.waited ~= t.stored_waited then
        add(changed, WAITED .. name, t.waited)
      end
      if t.due ~= t.stored_due and t.due > 0 then
        add(changed, DUE .. name, t.due)
      elseif t.due ~= t.stored_due then
        redis.call('HDEL', hosting_windows, DUE .. name)
      end
      redis.call('HSET', hosting_windows, unpack(changed))
    end
  end
end
