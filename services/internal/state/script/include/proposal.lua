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

-- is_proposed tells whether a ticket is still proposed to this backfill ticket, and when it was created. It is not when
-- it was cancelled.
local function is_proposed(ticket)
  local state, reserved_by, created = unpack(redis.call('HMGET', ticket, STATE, RESERVED_BY, CREATED))
  return state == PROPOSED and reserved_by == backfill_id, created
end

-- reject makes the proposed tickets, from the first one on, wait again at their old age. It drops what functions made
-- of the backfill ticket for their sake, adds to changes and events, and returns the number of tickets.
local function reject(first, changes, events, event)
  local ids, scores = {}, {}
  for _, ticket, id in each_ticket(first) do
    local proposed_here, created = is_proposed(ticket)
    if proposed_here then
      requeue(ticket, id, created, changes, scores)
      ids[#ids + 1] = id
    end
  end
  wait_again(scores)
  redis.call('DEL', proposals)
  redis.call('ZREM', proposed, backfill_id)
  redis.call('HDEL', backfill, PROPOSED_BODY, PROMISED)
  if #ids > 0 then
    events[#events + 1] = event
    events[#events + 1] = table.concat(ids, ' ')
  end
  return #ids
end
