-- Functions of scripts that propose tickets to a backfill ticket, or ask their players before. They use change, large,
-- backfill, player and roster. The tickets are all of the script's.
-- Reads: backfill, backfill_id, proposals, proposed, outcome, match_id, approval_time, max_proposed, new_body,
--        outcome_body

-- is_shown tells whether functions are shown the backfill ticket as one of them saw it.
local function is_shown(seen)
  local current, hidden = unpack(redis.call('HMGET', backfill, GENERATION, HIDDEN))
  -- mistake version: current = seen
  return current == seen and not hidden
end

-- taken returns the id of a ticket that does not wait; nil if all wait.
local function taken()
  for _, ticket, id in each_ticket() do
    if redis.call('HGET', ticket, STATE) ~= WAITING then
      return id
    end
  end
end

-- refuse_joining tells why the players of the tickets cannot join the game: 'players' (one of them is in the game, or
-- proposed to it, or in two of the tickets) or 'full' (too many tickets would be proposed, or the backfill tickets
-- would be too large). It is nil when they can, and the names of all that are proposed then follow.
local function refuse_joining(now)
  local refusal, promised = roster_refuses(first_key, #KEYS, now)
  if refusal then
    return refusal
  end
  if redis.call('HLEN', proposals) + #KEYS - first_key + 1 > tonumber(max_proposed) then
    return 'full'
  end
  local its_body, connection, allocated, before =
    unpack(redis.call('HMGET', backfill, BODY, CONNECTION, ALLOCATED, PROMISED))
  local players_size = roster_size(backfill) - #(before or '') + #promised
  if not has_room(size_of(its_body, string.sub(new_body, 2), connection, allocated, players_size)) then
    return 'full'
  end
  return nil, promised
end

-- propose lets the server approve the tickets, which the script wrote among the proposals. promised are the names of
-- all that are proposed now, most is the number of tickets from which on they must be approved first.
local function propose(promised, most, now)
  local allocating = redis.call('HGET', backfill, ALLOCATING_FOR)
  -- While its server is being allocated there is no deadline: the tickets end with the allocation.
  redis.call('ZADD', proposed, 'NX', allocating and '+inf' or now + approval_time, backfill_id)
  keep_outcome(outcome, match_id, outcome_body, now + (allocating and ALLOCATION or approval_time))
  redis.call('HSET', backfill, PROMISED, promised)
  if new_body ~= '' then
    redis.call('HSET', backfill, PROPOSED_BODY, string.sub(new_body, 2))
  end
  -- Without a new body, the next function would send others to the same places.
  if new_body == '' or redis.call('HLEN', proposals) >= tonumber(most) then
    redis.call('HSET', backfill, HIDDEN, APPROVAL)
  end
end
