-- Functions of scripts that begin or end the allocation of a match. A match m is a table: key, id, holder, and, to end
-- it, connection ('' = none), body (when it has a server or may have one, '' = it has none), call_lost ('1' = a call
-- for the server may still arrive), server (to store, '' = none) and server_time.
-- KEYS: deallocations
-- Reads: ended

-- refuse_lease returns why a holder does not get the lease of a match: a status, and for how many milliseconds another
-- holder still has it. It returns nil when the holder gets it. Then it reports whether the allocation has begun,
-- whether it was another holder's, and for how long the search for a server may go on if it has begun: time without a
-- lease does not count.
local function refuse_lease(m, duration, now)
  local state, current, lease_expires, deadline, counted =
    unpack(redis.call('HMGET', m.key, STATE, HOLDER, LEASE_EXPIRES, DEADLINE, COUNTED))
  m.state, m.counted = state, counted
  if not state then
    return 'gone', 0
  elseif state == ASSIGNED then
    return 'done', 0
  elseif state == RELEASED then
    return 'released', 0
  elseif state ~= CLAIMED and state ~= ALLOCATING then
    return 'gone', 0 -- its players are still asked: Redis lost that they accepted
  end
  local begun = state == ALLOCATING
  local taken_over = begun and current and current ~= m.holder
  if taken_over and not has_ended(tonumber(lease_expires), now, tonumber(duration)) then
    return 'busy', lease_expires - now
  end
  local left = begun and tonumber(deadline)
  if left then
    left = left - math.min(now, tonumber(lease_expires or now))
  end
  return nil, begun, taken_over, left
end

-- take_lease gives a holder the lease. It returns 1 for the first lease, else 0, and for how many milliseconds the
-- search for a server may go on: later holders have what is left of the time of the first.
local function take_lease(m, begun, taken_over, left, duration, search_time, now)
  left = math.max(0, math.min(left or tonumber(search_time), tonumber(search_time)))
  redis.call('HSET', m.key, STATE, ALLOCATING, HOLDER, m.holder, LEASE_EXPIRES, now + duration, DEADLINE, now + left)
  if taken_over then
    redis.call('HSET', m.key, CONTESTED, 1)
  end
  return begun and 0 or 1, left
end

-- deallocate notes that a match has, or may have, a server that no ticket uses.
local function deallocate(m, now)
  redis.call('HSET', m.key, STATE, RELEASED, BODY, m.body)
  redis.call('HDEL', m.key, HOLDER, LEASE_EXPIRES, DEADLINE, COUNTED, TRIES, FIRST_TRY)
  redis.call('ZADD', deallocations, now, m.id)
  if m.call_lost == '1' then
    redis.call('HSET', m.key, CONFIRM, 1)
  end
  redis.call('ZREM', ended, m.id)
end

-- refuse_end returns why a holder does not end a match: its status, nil when the holder ends it. Then it returns
-- whether the match may have two servers.
local function refuse_end(m, now)
  local state, current, contested, in_use, counted =
    unpack(redis.call('HMGET', m.key, STATE, HOLDER, CONTESTED, USED, COUNTED))
  m.state, m.counted = state, counted
  if state == ASSIGNED then
    if in_use and m.connection ~= '' and m.connection ~= in_use then
      redis.call('HSET', m.key, BODY, m.body) -- a holder that had lost the lease got another server, later than most
      redis.call('HDEL', m.key, TRIES, FIRST_TRY)
      redis.call('ZADD', deallocations, now, m.id)
    end
    return 'done'
  elseif state == ALLOCATING and current and current ~= m.holder then
    -- The other holder's server is the match's. This one is deallocated with the match's end, since it is contested.
    return 'busy'
  elseif (state == OFFERED or state == DECLINED) and m.body ~= '' then
    return 'asked' -- Redis lost that its players accepted: its server goes, and its tickets wait again
  elseif state ~= ALLOCATING and state ~= CLAIMED and state ~= ACCEPTED then
    -- It ended without a server. A server that comes too late is not for its tickets.
    if m.body ~= '' then
      deallocate(m, now)
    end
    return state and 'released' or 'gone'
  end
  m.was_accepted = state == ACCEPTED
  return nil, contested
end

-- end_match keeps the state of a match for allocators that work on it a second time. Its body is needed only to
-- deallocate the server. used reports whether tickets use the server, expiry is when their results end, and memory for
-- how long a match is kept that may have a second server. It returns until when the match is kept, nil when its server
-- is to be deallocated.
local function end_match(m, used, contested, expiry, memory, now)
  if m.body ~= '' and not used then
    deallocate(m, now)
    return nil
  end
  if m.was_accepted then
    redis.call('DEL', m.key) -- what its players said
  end
  local store = used and m.server ~= ''
  redis.call('HSET', m.key, STATE, used and ASSIGNED or RELEASED, BODY, '', HOLDER, '', LEASE_EXPIRES, '', DEADLINE, '',
    COUNTED, '', unpack(store and {SERVER, m.server} or {}))
  if contested and used then
    redis.call('HSET', m.key, BODY, m.body, USED, m.connection, CONFIRM, 1)
    redis.call('ZADD', deallocations, now, m.id)
    expiry = now + memory
  end
  return store and math.max(expiry, now + m.server_time) or expiry
end

-- resolve writes the result of a ticket.
local function resolve(ticket, assignment)
  redis.call('HSET', ticket, STATE, RESOLVED, ASSIGNMENT, assignment, RESERVED_BY, '')
end
