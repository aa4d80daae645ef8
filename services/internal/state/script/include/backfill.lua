-- Functions of scripts that change backfill tickets.
-- KEYS: backfill_sizes
-- Reads: backfill, backfill_id, joined, backfills, match_id, bytes_limit, claims

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

-- size_of adds up what counts of a backfill ticket.
local function size_of(body, proposed_body, connection, allocated, roster_size)
  return #(body or '') + #(proposed_body or '') + #(connection or '') + #(allocated or '') + (roster_size or 0)
end

-- roster_size is how many bytes its players take, and what its match began with.
local function roster_size(key)
  local size = 0
  for _, value in ipairs({ROSTER, PLAYERS, PROMISED, LATELY, STARTED_WITH}) do
    size = size + redis.call('HSTRLEN', key, value)
  end
  return size
end

-- has_room tells whether the backfill ticket may take this many bytes. One that does not grow always may.
local function has_room(size)
  local limit = tonumber(bytes_limit)
  if limit == 0 then
    return true
  end
  local before, total = unpack(redis.call('HMGET', backfill_sizes, backfill_id, 'total'))
  before = tonumber(before or 0)
  return size <= before or tonumber(total or 0) - before + size <= limit
end

-- grows tells whether the backfill ticket would take more bytes than now.
local function grows(size)
  return size > tonumber(redis.call('HGET', backfill_sizes, backfill_id) or 0)
end

-- is_accessible tells whether the backfill ticket exists, and belongs to the match ('' = any).
local function is_accessible()
  local owner = redis.call('HGET', backfill, BELONGS_TO)
  return owner and (match_id == '' or match_id == owner)
end

-- describe counts the generation up, and adds to changes what functions are shown of the backfill ticket from now on:
--   '*<backfill>', 'version generation created length connection body'    length is the connection's
--   '%<backfill>', ''                                                     the same; it is to be fetched, if it is shown
--   '/<backfill>', ''                                                     it is not shown any more
-- It is hidden when its proposals lapsed, when tickets were proposed and its server is silent, when a function proposed
-- tickets without a change of the body, while players are asked whether they go to it, and when its players could not
-- be sent anywhere.
local function describe(changes)
  local generation = redis.call('HINCRBY', backfill, GENERATION, 1)
  local version, created, connection, allocated, allocating, proposed_body, body, hidden, queue, roster =
    unpack(redis.call('HMGET', backfill, VERSION, CREATED, CONNECTION, ALLOCATED, ALLOCATING_FOR, PROPOSED_BODY, BODY,
      HIDDEN, QUEUE, ROSTER))
  keep_size(backfill_id, size_of(body, proposed_body, connection, allocated, roster_size(backfill)))
  connection = connection or allocated or ''
  if hidden or (connection == '' and not allocating) then
    changes[#changes + 1] = '/' .. backfill_id
    changes[#changes + 1] = ''
    return
  end
  body = (proposed_body or body) .. (queue or '') .. (roster or '')
  if #connection + #body > NAMED then
    changes[#changes + 1] = '%' .. backfill_id
    changes[#changes + 1] = ''
    return
  end
  changes[#changes + 1] = '*' .. backfill_id
  changes[#changes + 1] = table.concat({version, generation, created, #connection, connection}, ' ') .. ' ' .. body
end

-- note_approval notes that its server approves, and how long it usually takes to do so again. A pause counts as no more
-- than it takes to be silent: a server that was away is not given as much time at once.
local function note_approval(now)
  local last, usual = unpack(redis.call('HMGET', backfill, APPROVED, USUAL))
  local pause = last and now - tonumber(last) or -1
  if pause >= 0 and usual then
    usual = tonumber(usual)
    redis.call('HSET', backfill, USUAL,
      math.floor((3 * usual + math.min(pause, SILENT * math.max(usual, LEAST_USUAL))) / 4))
  elseif pause >= 0 then
    redis.call('HSET', backfill, USUAL, math.min(pause, FIRST_USUAL))
  end
  redis.call('HSET', backfill, APPROVED, now)
end

-- is_silent tells whether its server has not called for several times as long as it usually takes to approve again. Who
-- was sent to a server that died waits in vain until the approval's time is over. It is not known of one that approved
-- fewer than twice.
local function is_silent(now)
  local usual = redis.call('HGET', backfill, USUAL)
  local called = redis.call('ZSCORE', backfills, backfill_id)
  return usual and called and now - tonumber(called) > SILENT * math.max(tonumber(usual), LEAST_USUAL)
end

-- hide_silent lets functions not be shown it until its server calls, and returns the feed's position.
local function hide_silent()
  local changes = {}
  redis.call('HSET', backfill, HIDDEN, LAPSED)
  describe(changes)
  return append_feed(changes)
end

-- asking_match returns the match whose players are asked whether they go to a game that is hidden so; nil if there is
-- none.
local function asking_match(hidden)
  return hidden and string.match(hidden, '^' .. ASKING .. '(.+)$') or nil
end

-- end_asking lets that match end, since the game is not what it was: acceptance_end.lua does it. The caller writes
-- HIDDEN, or deletes the backfill ticket.
local function end_asking()
  local asks = asking_match(redis.call('HGET', backfill, HIDDEN))
  if asks then
    redis.call('ZADD', claims, 'XX', 0, asks)
  end
end

-- forget deletes the backfill ticket, once it has no proposed tickets, and adds that to changes.
local function forget(changes)
  end_asking()
  redis.call('DEL', backfill, joined)
  redis.call('ZREM', backfills, backfill_id)
  keep_size(backfill_id, 0)
  changes[#changes + 1] = '/' .. backfill_id
  changes[#changes + 1] = ''
end
