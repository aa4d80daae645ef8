-- Functions of scripts that claim or end matches which need a server. A target is where servers come from: a profile,
-- fleet and region. It has a window: how many of its matches may be open, that is claimed and without a result. The
-- window closes when hosting has no server, and halves when a match ends without an answer. Every answer opens it: up
-- to FIRST by a match, and beyond it by an eighth, if matches had to wait. A target is forgotten when none of its
-- matches is open and it is as open as a new one.
--
-- The hosting of a proposal may have texts of clients: a region that does not exist. Of such a match, scripts get two
-- names with a space between: its target, and the name that its config's hosting has for all targets of which it has
-- given no server yet. The match counts to the second until one was given. So invented targets wait for each other, and
-- take nothing from targets that hosting serves, nor from other fleets of configs. The window of the shared one begins
-- with UNSERVED, since an allocator asks for few servers of a fleet at once, and others need some of these places.
-- KEYS: credit, served

-- known_names has what target_of returned in this script.
local known_names = {}

-- target_of returns the target that a match counts to, and whether that is shared.
local function target_of(names)
  local own, shared = string.match(names, '^(%S+) (%S+)$')
  if not own then
    return names, false
  end
  if not known_names[names] then
    known_names[names] = redis.call('ZSCORE', served, own) and own or shared
  end
  return known_names[names], known_names[names] == shared
end

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
    if redis.call('ZCARD', served) >= KNOWN then
      return
    end
  end
  redis.call('ZADD', served, now, own)
end

-- first_window returns the window of a new target. Names of shared ones begin with '~'.
local function first_window(name)
  return string.sub(name, 1, 1) == '~' and UNSERVED or FIRST
end

-- credit_of reads a target. The last result is whether it is known.
local function credit_of(name)
  local window, open, due, waited = unpack(redis.call('HMGET', credit,
    WINDOW .. name, OPEN .. name, DUE .. name, WAITED .. name))
  return tonumber(window or first_window(name)), tonumber(open or 0), tonumber(due or 0), waited, window or open
end

-- forget_target deletes a target.
local function forget_target(name)
  redis.call('HDEL', credit, WINDOW .. name, OPEN .. name, DUE .. name, WAITED .. name, TOLD .. name)
end

-- is_room_for_targets reports whether there may be one more target. Targets that were not used for long make room. That
-- takes about a millisecond, so it is looked for once a second at most.
local function is_room_for_targets(now)
  if redis.call('HLEN', credit) < FIELDS then
    return true
  end
  local last = tonumber(redis.call('HGET', credit, SWEPT) or 0)
  if last > now - SWEEP and last <= now then
    return false
  end
  redis.call('HSET', credit, SWEPT, now)
  for _, field in ipairs(redis.call('HKEYS', credit)) do
    local name = string.match(field, '^' .. DUE .. '(.*)$')
    if name then
      local _, open, due = credit_of(name)
      if open == 0 and due < now - UNUSED then
        forget_target(name)
      end
    end
  end
  return redis.call('HLEN', credit) < FIELDS
end

-- server_of returns the target that one more match asks for a server, or nil and why it must wait: 'hosting' or, when
-- its target shares what others were refused, 'target'. targets are the script's. may_try: it may try a shared target
-- that is closed.
local function server_of(names, targets, now, may_try)
  local name, is_shared = target_of(names)
  local t = targets[name]
  if not t then
    local window, open, due, waited, known = credit_of(name)
    t = {room = math.floor(window / 8) - open, due = due, waited = waited, claimed = 0}
    if not known and not is_room_for_targets(now) then
      t.room, t.unknown = 0, true
    end
    targets[name] = t
  end
  if t.room > 0 then
    t.room = t.room - 1
    return name
  elseif t.due > 0 and t.due <= now and (may_try or not is_shared) then
    t.due, t.retry = now + LOST, true
    return name
  end
  t.refused = true
  return nil, is_shared and 'target' or 'hosting'
end

-- close_target notes that a target has no server now. It reports whether that was not told for a while.
local function close_target(name, now, pause)
  local window, open, due = credit_of(name)
  if window > 0 then
    redis.call('HSET', credit, WINDOW .. name, 0)
  end
  if due == 0 then
    redis.call('HSET', credit, DUE .. name, now + (open > 0 and LOST or RETRY))
  end
  local told = tonumber(redis.call('HGET', credit, TOLD .. name) or 0)
  if told > now - pause and told <= now then
    return false
  end
  redis.call('HSET', credit, TOLD .. name, now)
  return true
end

-- note_claims writes how many matches of a target were claimed, and whether others have to wait.
local function note_claims(name, t, now)
  if t.claimed > 0 then
    redis.call('HINCRBY', credit, OPEN .. name, t.claimed)
  end
  if t.retry and (t.claimed > 0 or t.offered) then
    redis.call('HSET', credit, DUE .. name, t.due)
  end
  if t.refused and not t.unknown then
    if t.waited ~= '1' then
      redis.call('HSET', credit, WAITED .. name, 1)
    end
    if t.due == 0 then
      redis.call('HSET', credit, DUE .. name, now + LOST)
    end
  elseif t.waited then
    redis.call('HDEL', credit, WAITED .. name)
  end
end

-- open_match counts a match whose players were asked before, and accepted. It goes on also when the target is closed.
local function open_match(name)
  redis.call('HINCRBY', credit, OPEN .. name, 1)
end

-- reopen_target lets another match try a target that is closed, since the one that was to try it ended before.
local function reopen_target(name, now)
  local due = redis.call('HGET', credit, DUE .. name)
  if due and tonumber(due) > now then
    redis.call('HSET', credit, DUE .. name, now)
  end
end

-- reopen_offered is reopen_target for a match that ended in a state in which it counts to no target: Redis lost that
-- its players accepted.
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
        changed[#changed + 1] = WAITED .. name
        changed[#changed + 1] = t.waited
      end
      if t.due ~= t.stored_due and t.due > 0 then
        changed[#changed + 1] = DUE .. name
        changed[#changed + 1] = t.due
      elseif t.due ~= t.stored_due then
        redis.call('HDEL', credit, DUE .. name)
      end
      redis.call('HSET', credit, unpack(changed))
    end
  end
end
