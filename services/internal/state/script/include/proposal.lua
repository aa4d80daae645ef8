-- Functions of scripts that move the tickets which are proposed to a backfill ticket.
-- Reads: backfill, backfill_id, proposals, proposed
--
-- Such a script has the keys of these tickets among its own, from the first one on. The caller cannot know for sure
-- which they are. When they are not those that the caller named, the script answers 'again' with the right ones, and
-- changes nothing.

-- are_proposed tells whether the tickets from the first one on are all that are proposed.
local function are_proposed(first)
  local count = 0
  for _, _, id in each_ticket(first) do
    if redis.call('HEXISTS', proposals, id) == 0 then
      return false
    end
    count = count + 1
  end
  return redis.call('HLEN', proposals) == count
end

-- again answers a caller who did not know the tickets that are proposed.
local function again()
  return {'again', unpack(redis.call('HKEYS', proposals))}
end

-- is_proposed tells whether a ticket is still proposed to this backfill ticket. It is not when it was cancelled.
local function is_proposed(ticket)
  local state, reserved_by = unpack(redis.call('HMGET', ticket, STATE, RESERVED_BY))
  return state == PROPOSED and reserved_by == backfill_id
end

-- reject makes the proposed tickets, from the first one on, wait again at their old age. It drops what functions made
-- of the backfill ticket for their sake, adds to changes and events, and returns the number of tickets.
local function reject(first, changes, events, event)
  local ids = {}
  for _, ticket, id in each_ticket(first) do
    if is_proposed(ticket) then
      requeue(ticket, id, changes)
      ids[#ids + 1] = id
    end
  end
  redis.call('DEL', proposals)
  redis.call('ZREM', proposed, backfill_id)
  redis.call('HDEL', backfill, PROPOSED_BODY)
  if #ids > 0 then
    events[#events + 1] = event
    events[#events + 1] = table.concat(ids, ' ')
  end
  return #ids
end
