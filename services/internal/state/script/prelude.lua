-- Prelude of every script that changes the waiting set. Such a script has
-- KEYS[1] = seq and KEYS[2] = feed.

-- feed appends one entry and returns its position. fields is a list of
-- name, value pairs: '+<ticket>', body for a ticket that waits from now on,
-- '-<ticket>', '' for one that no longer does. maxlen is about how many entries stay.
local function feed(maxlen, fields)
  local position = redis.call('INCR', KEYS[1])
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', maxlen, position .. '-0', unpack(fields))
  return position
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

-- claimed_by tells whether a ticket is claimed by this match.
local function claimed_by(key, match)
  local ticket = redis.call('HMGET', key, 's', 'm')
  return ticket[1] == 'c' and ticket[2] == match
end
