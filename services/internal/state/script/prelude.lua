-- Prelude of every script that changes tickets or matches. Such a script has
-- KEYS[1..4] = seq, feed, told, history and ARGV[1..2] = about how much of the feed and of the history stays.

-- feed appends one entry to the feed and returns its position. fields is a list of
-- name, value pairs: '+<ticket>', body for a ticket that waits from now on,
-- '-<ticket>', '' for one that no longer does; '-', ids with spaces between for several.
local function feed(fields)
  local position = redis.call('INCR', KEYS[1])
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[1], position .. '-0', unpack(fields))
  return position
end

-- tell appends one entry to the history, unless none is kept. events is a list of pairs: an event, and
-- the ids of the tickets that it happened to, with spaces between; count is how many ids there are in all.
-- An entry takes as many positions as it has events and ids, so that what the history may keep is bounded in size.
local function tell(events, count)
  local kept = tonumber(ARGV[2])
  if kept > 0 then
    local position = redis.call('INCRBY', KEYS[3], count + #events / 2)
    redis.call('XADD', KEYS[4], 'MINID', '~', math.max(0, position - kept) .. '-0', position .. '-0', unpack(events))
  end
end

-- wait_again makes a claimed ticket wait at its old age, and adds the change to fields.
local function wait_again(waiting, key, id, fields)
  local ticket = redis.call('HMGET', key, 'c', 'b')
  redis.call('HSET', key, 's', 'w')
  redis.call('HDEL', key, 'm')
  redis.call('ZADD', waiting, ticket[1], id)
  fields[#fields + 1] = '+' .. id
  fields[#fields + 1] = ticket[2]
end

-- resolve notes until when the results of tickets can be read: once for all that get theirs in one script.
local function resolve(resolved, expiry, ids)
  if #ids > 0 then
    redis.call('ZADD', resolved, expiry, table.concat(ids, ' '))
  end
end

-- claimed_by tells whether a ticket is claimed by this match.
local function claimed_by(key, match)
  local ticket = redis.call('HMGET', key, 's', 'm')
  return ticket[1] == 'c' and ticket[2] == match
end
