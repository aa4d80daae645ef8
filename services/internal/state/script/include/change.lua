-- Functions of scripts that change tickets or matches.
-- KEYS: feed_seq, feed, history_seq, history
-- ARGV: feed_limit, history_limit (about how many entries and positions are kept)
-- Reads: waiting, resolved, match_id

-- append_feed appends one entry to the feed and returns its position. changes is a list of name, value pairs:
--   '+<ticket>', body    the ticket waits from now on
--   '-<ticket>', ''      the ticket no longer waits
--   '-', ids             these tickets no longer wait; there are spaces between the ids
-- and those that describe in backfill.lua adds.
local function append_feed(changes)
  local position = redis.call('INCR', feed_seq)
  redis.call('XADD', feed, 'MAXLEN', '~', feed_limit, position .. '-0', unpack(changes))
  return position
end

-- append_history appends one entry to the history, unless none is kept. events is a list of pairs: an event, and the
-- ids of its tickets with spaces between. count is the number of all ids. An entry takes one position for each event
-- and each id, so that the limit bounds the size of the history.
local function append_history(events, count)
  local limit = tonumber(history_limit)
  if limit > 0 then
    local position = redis.call('INCRBY', history_seq, count + #events / 2)
    redis.call('XADD', history, 'MINID', '~', math.max(0, position - limit) .. '-0', position .. '-0', unpack(events))
  end
end

-- requeue makes a ticket wait again at its old age, and adds that to changes.
local function requeue(ticket, id, changes)
  local created, body = unpack(redis.call('HMGET', ticket, CREATED, BODY))
  redis.call('HSET', ticket, STATE, WAITING)
  redis.call('HDEL', ticket, RESERVED_BY)
  redis.call('ZADD', waiting, created, id)
  changes[#changes + 1] = '+' .. id
  changes[#changes + 1] = body
end

-- keep_results notes until when the results of tickets can be read: one member for all ids of one script.
local function keep_results(ids, expiry)
  if #ids > 0 then
    redis.call('ZADD', resolved, expiry, table.concat(ids, ' '))
  end
end

-- is_claimed tells whether a ticket is claimed by this match.
local function is_claimed(ticket)
  local state, reserved_by = unpack(redis.call('HMGET', ticket, STATE, RESERVED_BY))
  return state == CLAIMED and reserved_by == match_id
end
