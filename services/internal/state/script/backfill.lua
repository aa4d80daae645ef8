-- Prelude of scripts that change backfill tickets, behind prelude.lua.
--
-- A backfill ticket bf has beside it bp, the tickets that are proposed to it. A script that moves them has their keys
-- among KEYS. Who calls it cannot know them for sure, so it first says what it believes, and is told
-- when that is wrong: nothing was changed then.

-- attached tells whether ARGV[first] to the last one, every step-th of them, are all tickets that are proposed.
local function attached(bp, first, step)
  if redis.call('HLEN', bp) ~= math.floor((#ARGV - first + step) / step) then
    return false
  end
  for i = first, #ARGV, step do
    if redis.call('HEXISTS', bp, ARGV[i]) == 0 then
      return false
    end
  end
  return true
end

-- again is the answer to who did not know the tickets that are proposed.
local function again(bp)
  return {'again', unpack(redis.call('HKEYS', bp))}
end

-- may_touch tells whether a backfill ticket is there, and belongs to a match ('' = whichever).
local function may_touch(bf, match)
  local owner = redis.call('HGET', bf, 'o')
  return owner and (match == '' or match == owner)
end

-- proposed_to tells whether a ticket is proposed to this backfill ticket: one that was cancelled is not.
local function proposed_to(key, id)
  local ticket = redis.call('HMGET', key, 's', 'm')
  return ticket[1] == 'p' and ticket[2] == id
end

-- reject makes the proposed tickets wait again at their old age, adds the changes to fields and to events, and returns how many they
-- are. What functions made of the backfill ticket for their sake is undone. Their keys are KEYS[k] and those behind
-- it, their ids every step-th of ARGV[first] to the last.
local function reject(bf, bp, id, proposed, waiting, k, first, step, fields, events, event)
  local ids = {}
  for i = first, #ARGV, step do
    if proposed_to(KEYS[k], id) then
      wait_again(waiting, KEYS[k], ARGV[i], fields)
      ids[#ids + 1] = ARGV[i]
    end
    k = k + 1
  end
  redis.call('DEL', bp)
  redis.call('ZREM', proposed, id)
  redis.call('HDEL', bf, 'n')
  if #ids > 0 then
    events[#events + 1] = event
    events[#events + 1] = table.concat(ids, ' ')
  end
  return #ids
end

-- tell_some tells of events, if there are any.
local function tell_some(events, count)
  if #events > 0 then
    tell(events, count)
  end
end

-- show notes a change of a backfill ticket, after which functions are shown it, or it no more: the change is added to fields.
-- '*<backfill>' is followed by 'version generation created length connection body', the length being the connection's,
-- '/<backfill>' by nothing. Nobody is shown one whose proposals lapsed, or were made without a word in it about them, or
-- whose players could not be sent anywhere.
local function show(bf, id, fields)
  local generation = redis.call('HINCRBY', bf, 'g', 1)
  local t = redis.call('HMGET', bf, 'v', 'c', 'a', 'd', 'm', 'n', 'b', 'h')
  local connection = t[3] or t[4] or ''
  if t[8] or (connection == '' and not t[5]) then
    fields[#fields + 1] = '/' .. id
    fields[#fields + 1] = ''
    return
  end
  fields[#fields + 1] = '*' .. id
  fields[#fields + 1] = table.concat({t[1], generation, t[2], #connection, connection}, ' ') .. ' ' .. (t[6] or t[7])
end

-- forget removes a backfill ticket that has no proposed tickets for good, and adds the change to fields.
local function forget(bf, joined, id, backfills, fields)
  redis.call('DEL', bf, joined)
  redis.call('ZREM', backfills, id)
  fields[#fields + 1] = '/' .. id
  fields[#fields + 1] = ''
end
