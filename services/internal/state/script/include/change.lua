-- Functions of scripts that change tickets or matches.
-- KEYS: feed_seq, feed, stream_bytes, history_seq, history, results
-- ARGV: feed_limit, feed_bytes, history_limit, history_bytes (about how many entries, positions and bytes are kept)
-- Reads: waiting, resolved

-- add appends two values to a list.
local function add(list, one, two)
  local n = #list
  list[n + 1], list[n + 2] = one, two
end

-- bound counts the bytes of an entry of a stream, and trims the stream to about a limit of them. The position at which
-- each part of the limit began is kept. When the next part begins, entries before all of them go: usually one call.
local function bound(stream, name, position, size, limit)
  local part, total = limit / PARTS, redis.call('HINCRBY', stream_bytes, name, size)
  local before, begun = math.floor((total - size) / part), math.floor(total / part)
  if begun > before then
    local oldest = redis.call('HGET', stream_bytes, name .. begun % PARTS)
    for n = math.max(before, begun - PARTS) + 1, begun do
      redis.call('HSET', stream_bytes, name .. n % PARTS, position)
    end
    if oldest and tonumber(oldest) <= tonumber(position) then
      redis.call('XTRIM', stream, 'MINID', '~', oldest)
    end
  end
end

-- carried is how many bytes of bodies the entry of this script has, so far.
local carried = 0

-- append_feed appends one entry to the feed and returns its position, 0 without changes. They are name, value pairs:
--   '+<ticket>', body    the ticket waits from now on
--   '@<ticket>', ''      the same; the body is to be fetched, if the ticket still waits
--   '-<ticket>', ''      the ticket no longer waits
--   '-', ids             these tickets are in a match now; there are spaces between the ids
-- and the changes that describe in backfill.lua adds. The number of small entries is bounded; their bytes do not count.
local function append_feed(changes)
  if #changes == 0 then
    return 0
  end
  local position, size = redis.call('INCR', feed_seq), carried + #changes * NAME
  redis.call('XADD', feed, 'MAXLEN', '~', feed_limit, position .. '-0', unpack(changes))
  if #changes == 2 then
    size = size + #changes[2]
  end
  if size > NAMED then
    bound(feed, FEED, position, size, feed_bytes)
  end
  return position
end

-- take_positions takes positions that append_history is to use, or gives them back.
local taken, last = 0, 0
local function take_positions(count)
  taken, last = count, redis.call('INCRBY', history_seq, count)
end

-- append_history appends one entry to the history, unless none is kept. events is a list of pairs: an event, and the
-- ids of its tickets with spaces between. count is the number of all ids. An entry takes one position for each event
-- and each id, so that the limit bounds the size of the history. The bytes of an entry with more than PLAIN for each of
-- them count besides.
local function append_history(events, count)
  local limit, positions, size = tonumber(history_limit), count + #events / 2, 0
  if limit == 0 or positions == 0 then
    return
  end
  local position = positions == taken and last or redis.call('INCRBY', history_seq, positions - taken)
  redis.call('XADD', history, 'MINID', '~', math.max(0, position - limit) .. '-0', position .. '-0', unpack(events))
  for i = 1, #events do
    size = size + #events[i]
  end
  if size > PLAIN * positions then
    bound(history, HISTORY, position, size, history_bytes)
  end
end

-- show adds to changes that a ticket waits from now on. Its body is not read unless the entry carries it.
local function show(changes, id, ticket, size, body)
  local n = #changes
  if size > NAMED or carried + size > CARRIED then
    changes[n + 1], changes[n + 2] = '@' .. id, ''
    return
  end
  carried = carried + size
  changes[n + 1], changes[n + 2] = '+' .. id, body or redis.call('HGET', ticket, BODY)
end

-- requeue makes a ticket that was created then wait again, and adds that to changes and to scores.
local function requeue(ticket, id, created, changes, scores)
  redis.call('HSET', ticket, STATE, WAITING)
  redis.call('HDEL', ticket, RESERVED_BY, ASKED)
  add(scores, created, id)
  show(changes, id, ticket, redis.call('HSTRLEN', ticket, BODY))
  -- mistake forgotten: changes[#changes - 1], changes[#changes] = '-' .. id, ''
end

-- call_all calls a command with a key and a list, unless that is empty.
local function call_all(command, key, list)
  if #list > 0 then
    redis.call(command, key, unpack(list))
  end
end

-- keep_results notes until when the results of so many tickets can be read: one member for all ids of one script. Each
-- element of ids is an id, or several with spaces between. They are counted by the part of the time in which their
-- results end.
local function keep_results(ids, count, now, readable)
  if #ids == 0 then
    return
  end
  local expiry, part = now + readable, math.ceil(readable / RESULT_PARTS)
  redis.call('ZADD', resolved, expiry, table.concat(ids, ' '))
  local ends = string.format('%.0f', math.ceil(expiry / math.max(part, 1)) * math.max(part, 1))
  if redis.call('HINCRBY', results, ends, count) == count then -- a new part
    for _, other in ipairs(redis.call('HKEYS', results)) do
      if tonumber(other) <= now then
        redis.call('HDEL', results, other)
      end
    end
    redis.call('PEXPIRE', results, string.format('%.0f', 2 * readable + 60000))
  end
end

-- is_claimed reports whether a match has claimed a ticket, when it was created, and its players, with newlines between.
local function is_claimed(ticket, by)
  local state, reserved_by, created, owner, its_players =
    unpack(redis.call('HMGET', ticket, STATE, RESERVED_BY, CREATED, OWNER, PLAYERS))
  return state == CLAIMED and reserved_by == by, created, its_players or owner or ''
end
