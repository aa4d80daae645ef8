-- Functions of match_claim.lua. A match is a table: the place of its key, its id and arguments, and the ids of its
-- tickets. They use large, backfill, place and result.
-- Reads: waiting, backfills, max_backfills

-- refuse_game returns why a match cannot have the backfill ticket of its place; nil when it can. batch has
-- the running games of the matches before, how many backfill tickets they create, and their bytes.
local function refuse_game(game, from, to, tickets, batch, now, changes)
  if game.is_running then
    local key = from
    for id in string.gmatch(tickets, '[^ ]+') do
      if redis.call('HGET', KEYS[key], STATE) ~= WAITING then
        return id
      end
      key = key + 1
    end
    return batch.games[game.id] and 'backfill' or refuse_join(game, from, to, now, changes)
  elseif redis.call('ZCARD', backfills) + batch.begun >= tonumber(max_backfills)
    or not has_room(game.id, batch.bytes + #game.made) then
    return 'full'
  end
end

-- take_tickets takes the tickets of matches out of waiting, and refuses matches of which one does not wait. Usually all
-- of them wait.
local function take_tickets(matches, all, result)
  if #all == 0 or redis.call('ZREM', waiting, unpack(all)) == #all then
    return
  end
  local claimed, back = {}, {}
  for _, match in ipairs(matches) do
    for j, id in ipairs(match.ids) do
      if claimed[id] or redis.call('HGET', KEYS[match.key + 1 + j], STATE) ~= WAITING then
        result[match.number + 1] = id
        break
      end
    end
    -- mistake state: result[match.number + 1] = 'ok'
    if result[match.number + 1] == 'ok' then
      for _, id in ipairs(match.ids) do
        claimed[id] = true
      end
    end
  end
  for _, match in ipairs(matches) do
    for j, id in ipairs(match.ids) do
      if not claimed[id] then
        local state, created = unpack(redis.call('HMGET', KEYS[match.key + 1 + j], STATE, CREATED))
        if state == WAITING then
          add(back, created, id)
        end
      end
    end
  end
  call_all('ZADD', waiting, back)
end

-- enter_game notes that a match goes to its running game, or creates the backfill ticket of its new one.
local function enter_game(game, match, now)
  if game.is_running then
    redis.call('HSET', game.open, match.id, game.names)
  else
    begin_game(game, match.id, game.made, game.queue, game.started_with, now)
  end
end

-- reserve claims the tickets of a match.
local function reserve(match)
  for j = 1, #match.ids do
    redis.call('HSET', KEYS[match.key + 1 + j], STATE, CLAIMED, RESERVED_BY, match.id)
  end
  redis.call('HSET', KEYS[match.key], BODY, match.body, STATE, CLAIMED, COUNTED, match.counted)
end

-- assign_now writes the results of a match.
local function assign_now(match, now)
  for j = 1, #match.ids do
    local assignment = ARGV[match.before_assignments + math.min(j, match.assignments)]
    redis.call('HSET', KEYS[match.key + 1 + j], STATE, RESOLVED, ASSIGNMENT, assignment)
  end
  if match.awaits ~= '' then
    await_result(KEYS[match.key + 2 + #match.ids], match.awaits, match.key + 1, match.ids, {}, now)
  end
end

-- note_outcome counts the outcome of a match, and stores one that is there.
local function note_outcome(match, expiry)
  if match.outcome ~= '' then
    keep_outcome(KEYS[match.key + 1], match.id, match.outcome, expiry)
  elseif match.size > 0 then
    count_outcome(match.id, match.size)
  end
end
