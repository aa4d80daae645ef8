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
-- KEYS: hosting_windows, served

-- known_names has what target_of returned in this script.
local known_names = {}

-- target_of returns the target that a match counts to, and whether that is shared.
local function target_of(names)
  local own, shared = string.match(names, '^(%S+) (%S+)$')
  if not own then
    return names, false
  end
  known_names[names] = known_names[names] or redis.call('ZSCORE', served, own) and own or shared
  return known_names[names], known_names[names] == shared
end

-- first_window returns the window of a new target. Names of shared ones begin with '~'.
local function first_window(name)
  return string.sub(name, 1, 1) == '~' and UNSERVED or FIRST
end

-- credit_of reads a target. The last result is whether it is known.
local function credit_of(name)
  local window, open, due, waited = unpack(redis.call('HMGET', hosting_windows,
    WINDOW .. name, OPEN .. name, DUE .. name, WAITED .. name))
  return tonumber(window or first_window(name)), tonumber(open or 0), tonumber(due or 0), waited, window or open
end

-- forget_target deletes a target.
local function forget_target(name)
  redis.call('HDEL', hosting_windows, WINDOW .. name, OPEN .. name, DUE .. name, WAITED .. name, TOLD .. name)
end

-- is_room_for_targets reports whether there may be one more target. Targets that were not used for long make room. That
-- takes about a millisecond, so it is looked for once a second at most.
local function is_room_for_targets(now)
  if redis.call('HLEN', hosting_windows) < FIELDS then
    return true
  end
  local last = tonumber(redis.call('HGET', hosting_windows, SWEPT) or 0)
  if last > now - SWEEP and last <= now then
    return false
  end
  redis.call('HSET', hosting_windows, SWEPT, now)
  for _, field in ipairs(redis.call('HKEYS', hosting_windows)) do
    local name = string.match(field, '^' .. DUE .. '(.*)$')
    if name then
      local _, open, due = credit_of(name)
      if open == 0 and (due < now - UNUSED or due > now + LOST) then
        forget_target(name)
      end
    end
  end
  return redis.call('HLEN', hosting_windows) < FIELDS
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
  elseif t.due > 0 and (t.due <= now or t.due > now + LOST) and (may_try or not is_shared) then
    t.due, t.retry = now + LOST, true
    return name
  end
  t.refused = true
  return nil, is_shared and 'target' or 'hosting'
end

-- note_claims writes how many matches of a target were claimed, and whether others have to wait.
local function note_claims(name, t, now)
  if t.claimed > 0 then
    redis.call('HINCRBY', hosting_windows, OPEN .. name, t.claimed)
  end
  if t.retry and (t.claimed > 0 or t.offered) then
    redis.call('HSET', hosting_windows, DUE .. name, t.due)
  end
  if t.refused and not t.unknown then
    if t.waited ~= '1' then
      redis.call('HSET', hosting_windows, WAITED .. name, 1)
    end
    if t.due == 0 then
      redis.call('HSET', hosting_windows, DUE .. name, now + LOST)
    end
  elseif t.waited then
    redis.call('HDEL', hosting_windows, WAITED .. name)
  end
end

-- open_match counts a match whose players were asked before, and accepted. It goes on also when the target is closed.
local function open_match(name)
  redis.call('HINCRBY', hosting_windows, OPEN .. name, 1)
end
