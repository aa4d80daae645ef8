-- Functions of scripts for the place that a match's connection comes from, which is one of these:
--   ''                  none: the function gives the result, or the match waits for its end or its deadline
--   'hosting'           a new server
--   'new <backfill>'    a new server, whose backfill ticket is created with the match
--   'join <backfill>'   the running game of a backfill ticket
-- The last two have three keys: of the backfill ticket, of the matches that go to it and of the tickets that joined.
-- The hash of matches has for each of them the number of its tickets, a space, and their players, with newlines
-- between. A match that is not in there any more does not go to that game: it changed, ended, or its server did not
-- approve in time. They use change, backfill, player and roster.
-- Reads: backfills, claims, joins

-- game_of returns the game of a place, nil if it has none. The last arguments are the keys of the place.
local function game_of(place, key, open, joined)
  local how, id = string.match(place, '^(%l+) (.+)$')
  return how and {is_running = how == 'join', id = id, key = key, open = open, joined = joined} or nil
end

-- going returns how many tickets of matches go to a game.
local function going(game)
  local count = 0
  for _, one in ipairs(redis.call('HVALS', game.open)) do
    count = count + tonumber(string.match(one, '^%d+'))
  end
  return count
end

-- refuse_join returns why tickets, KEYS[from] to KEYS[to], cannot join the game that a function saw: 'backfill' (it
-- changed, or functions are not shown it), 'players' (one of them is in the game, or goes there, or is in two of the
-- tickets) or 'full' (too many go there, or the backfill tickets would be too large). It returns nil when they can.
local function refuse_join(game, from, to, now, changes)
  local generation, hidden, body, connection, allocated =
    unpack(redis.call('HMGET', game.key, GENERATION, HIDDEN, BODY, CONNECTION, ALLOCATED))
  -- mistake version: generation = game.generation
  if generation ~= game.generation or hidden then
    return 'backfill'
  end
  if is_silent(game, now) then
    redis.call('HSET', game.key, HIDDEN, LAPSED)
    describe(game, changes, now)
    return 'backfill'
  end
  local refusal
  refusal, game.names = roster_refuses(game, from, to, now)
  if refusal then
    return refusal
  end
  local count = to - from + 1
  if going(game) + count > MOST_JOIN
    or not has_room(game.id, size_of(body, string.sub(game.made, 2), connection, allocated,
      players_size(game) + #game.names + #(count .. ' '))) then
    return 'full'
  end
  game.names = count .. ' ' .. game.names
end

-- join lets a match go to a game, whose server may approve from now on.
local function join(game, id, approval_time, now)
  local allocating = redis.call('HGET', game.key, ALLOCATING_FOR)
  -- While its server is being allocated there is no deadline: the match ends with the allocation.
  redis.call('ZADD', joins, allocating and '+inf' or now + approval_time, id)
  if game.made ~= '' then
    redis.call('HSET', game.key, PROPOSED_BODY, string.sub(game.made, 2))
  end
  -- Without a new body, the next function would send others to the same places.
  if game.made == '' or going(game) >= MANY_JOIN then
    redis.call('HSET', game.key, HIDDEN, APPROVAL)
  else
    redis.call('HDEL', game.key, HIDDEN)
  end
end

-- lapse notes that a match does not go to a game any more. Functions are not shown the game until its server calls. It
-- returns the other matches that went there: what functions made of the body for all of them is lost.
local function lapse(game, id, changes, now)
  if redis.call('HDEL', game.open, id) == 0 then
    return {}
  end
  local others = close(game)
  redis.call('HSET', game.key, HIDDEN, LAPSED)
  describe(game, changes, now)
  return others
end

-- refuse_arrival tells why the tickets of a match do not join its game: 'asked' (its players are asked first) or
-- 'lapsed' (its server approves too late, or the game is not what it was). It is nil when they do.
local function refuse_arrival(id, state, now)
  local deadline = tonumber(redis.call('ZSCORE', joins, id) or CLOSED)
  if state ~= CLAIMED then
    return 'asked'
  elseif deadline < now and deadline ~= SERVED then
    return 'lapsed'
  end
end

-- arrive notes that tickets of a match joined its game. is_told reports whether its server learns of it now.
local function arrive(game, id, ids, keys, their_results, is_told, now)
  redis.call('HDEL', game.open, id)
  redis.call('ZREM', joins, id)
  for _, ticket in ipairs(ids) do
    redis.call('ZADD', game.joined, is_told and now or '+inf', ticket)
  end
  note_joined(game, keys, their_results, now)
  if #ids > 0 and game.made ~= '' then
    redis.call('HSET', game.key, BODY, string.sub(game.made, 2)) -- what functions made of it holds, as a ticket joins
  end
  local hidden = redis.call('HGET', game.key, HIDDEN)
  if redis.call('EXISTS', game.open) == 0 then
    redis.call('HDEL', game.key, PROPOSED_BODY, HIDDEN)
  elseif hidden and hidden ~= APPROVAL and redis.call('HLEN', game.open) == 1 then
    redis.call('HDEL', game.key, PROPOSED_BODY) -- the one that is left asks its players
  end
end

-- begin_game creates the backfill ticket of a match's server, which is still to be allocated. What it was started with
-- is left out where there is no room for that.
local function begin_game(game, id, body, queue, started_with, now)
  redis.call('HSET', game.key, VERSION, 1, CREATED, now, BELONGS_TO, id, BODY, body, ALLOCATING_FOR, id)
  if queue ~= '' then
    redis.call('HSET', game.key, QUEUE, queue)
  end
  if started_with ~= '' and has_room(game.id, size_of(body, started_with)) then
    redis.call('HSET', game.key, STARTED_WITH, started_with)
  end
  redis.call('ZADD', backfills, now, game.id)
end

-- serve_game gives the backfill ticket of a match the connection of its server, and returns the matches that waited for
-- that. The caller assigns them in the step after. Until then, and if there is none, they are due.
local function serve_game(game, connection, now, changes)
  redis.call('HSET', game.key, ALLOCATED, connection)
  redis.call('HDEL', game.key, ALLOCATING_FOR)
  redis.call('ZADD', backfills, now, game.id)
  local ids = redis.call('HKEYS', game.open)
  for _, id in ipairs(ids) do
    redis.call('ZADD', joins, 'XX', SERVED, id)
  end
  describe(game, changes, now)
  return ids
end
