-- Functions of scripts that change backfill tickets. A game is a table: key and id of the backfill ticket, open and
-- joined, the keys of the matches that go to it and of the tickets that joined.
-- KEYS: backfill_sizes
-- Reads: backfills, claims, joins, backfill_bytes

-- keep_size writes how many bytes a backfill ticket takes, and the sum of all into 'total'. It is called after every
-- change, and sets what is true: so the sum does not drift.
local function keep_size(id, size)
  local before = tonumber(redis.call('HGET', backfill_sizes, id) or 0)
  if size == before then
    return
  end
  if size > 0 then
    redis.call('HSET', backfill_sizes, id, size)
  else
    redis.call('HDEL', backfill_sizes, id)
  end
  if redis.call('HINCRBY', backfill_sizes, 'total', size - before) <= 0 then
    redis.call('DEL', backfill_sizes)
  end
end

-- size_of adds up the bytes of a backfill ticket.
local function size_of(body, proposed_body, connection, allocated, players_size)
  return #(body or '') + #(proposed_body or '') + #(connection or '') + #(allocated or '') + (players_size or 0)
end

-- players_size returns the bytes of the game's players, joining ones included, and of what its match began with.
local function players_size(game)
  local size = 0
  for _, value in ipairs({ROSTER, PLAYERS, LATELY, STARTED_WITH}) do
    size = size + redis.call('HSTRLEN', game.key, value)
  end
  for _, going in ipairs(redis.call('HVALS', game.open)) do
    size = size + #going
  end
  return size
end

-- has_room reports whether the backfill ticket may take this many bytes. One that does not grow always may.
local function has_room(id, size)
  local limit = tonumber(backfill_bytes)
  if limit == 0 then
    return true
  end
  local before, total = unpack(redis.call('HMGET', backfill_sizes, id, 'total'))
  before = tonumber(before or 0)
  return size <= before or tonumber(total or 0) - before + size <= limit
end

-- grows reports whether the backfill ticket would take more bytes than now.
local function grows(id, size)
  return size > tonumber(redis.call('HGET', backfill_sizes, id) or 0)
end

-- is_accessible reports whether the backfill ticket exists, and belongs to the match ('' = any).
local function is_accessible(game, by)
  local owner = redis.call('HGET', game.key, BELONGS_TO)
  return owner and (by == '' or by == owner)
end

-- describe sets the next generation, and adds to changes what functions see of the backfill ticket from now on:
--   '*<backfill>', 'version generation created length connection body'    length is the connection's
--   '%<backfill>', ''                                                     the same; it is to be fetched, if it is shown
--   '/<backfill>', ''                                                     it is not shown any more
-- It is hidden when a match that went to it lapsed, when one goes to it and its server is silent, when a function sent
-- one without a change of the body, while players are asked whether they go to it, and when its players could not be
-- sent anywhere. The generation is the time, as settings_put.lua says of a revision: a proposal names what it saw.
local function describe(game, changes, now)
  local version, generation, created, connection, allocated, allocating, proposed_body, body, hidden, queue, roster =
    unpack(redis.call('HMGET', game.key, VERSION, GENERATION, CREATED, CONNECTION, ALLOCATED, ALLOCATING_FOR,
      PROPOSED_BODY, BODY, HIDDEN, QUEUE, ROSTER))
  generation = string.format('%.0f', math.max(now, tonumber(generation or 0) + 1))
  redis.call('HSET', game.key, GENERATION, generation)
  keep_size(game.id, size_of(body, proposed_body, connection, allocated, players_size(game)))
  connection = connection or allocated or ''
  body = (proposed_body or body or '') .. (queue or '') .. (roster or '')
  if hidden or (connection == '' and not allocating) then
    add(changes, '/' .. game.id, '')
  elseif #connection + #body > NAMED then
    add(changes, '%' .. game.id, '')
  else
    add(changes, '*' .. game.id,
      table.concat({version, generation, created, #connection, connection}, ' ') .. ' ' .. body)
  end
end

-- note_approval notes that its server approves, and how long it usually takes to do so again. A pause counts as no more
-- than it takes to be silent: a server that was away is not given as much time at once.
local function note_approval(game, now)
  local last, usual = unpack(redis.call('HMGET', game.key, APPROVED, USUAL))
  local pause = last and now - tonumber(last) or -1
  if pause >= 0 and usual then
    usual = tonumber(usual)
    redis.call('HSET', game.key, USUAL,
      math.floor((3 * usual + math.min(pause, SILENT * math.max(usual, LEAST_USUAL))) / 4))
  elseif pause >= 0 then
    redis.call('HSET', game.key, USUAL, math.min(pause, FIRST_USUAL))
  end
  redis.call('HSET', game.key, APPROVED, now)
end

-- is_silent reports whether the game's server has not called for several times its usual time between approvals:
-- players sent to a dead server wait in vain for the approval's time. One that approved less than twice is not silent.
local function is_silent(game, now)
  local usual = redis.call('HGET', game.key, USUAL)
  local called = redis.call('ZSCORE', backfills, game.id)
  return usual and called and now - tonumber(called) > SILENT * math.max(tonumber(usual), LEAST_USUAL)
end

-- close ends all matches that go to a game, since the game changed, and returns their ids. The caller releases them in
-- the step after. Until then, and if there is none, they are overdue.
local function close(game)
  local ids = redis.call('HKEYS', game.open)
  for _, id in ipairs(ids) do
    redis.call('ZADD', joins, 'XX', CLOSED, id)
    redis.call('ZADD', claims, 'XX', CLOSED, id)
  end
  redis.call('DEL', game.open)
  redis.call('HDEL', game.key, PROPOSED_BODY)
  return ids
end

-- forget deletes the backfill ticket, adds that to changes, and returns the matches that went to it.
local function forget(game, changes)
  local ids = close(game)
  redis.call('DEL', game.key, game.joined)
  redis.call('ZREM', backfills, game.id)
  keep_size(game.id, 0)
  add(changes, '/' .. game.id, '')
  return ids
end
