-- Functions of scripts that change backfill tickets.
-- Reads: backfill, backfill_id, joined, backfills, match_id

-- is_accessible tells whether the backfill ticket exists, and belongs to the match ('' = any).
local function is_accessible()
  local owner = redis.call('HGET', backfill, BELONGS_TO)
  return owner and (match_id == '' or match_id == owner)
end

-- describe counts the generation up, and adds to changes what functions are shown of the backfill ticket from now on:
--   '*<backfill>', 'version generation created length connection body'    length is the connection's
--   '/<backfill>', ''                                                     it is not shown any more
-- It is hidden when its proposals lapsed, when a function proposed tickets without a change of the body, and when its
-- players could not be sent anywhere.
local function describe(changes)
  local generation = redis.call('HINCRBY', backfill, GENERATION, 1)
  local version, created, connection, allocated, allocating, proposed_body, body, hidden = unpack(redis.call('HMGET',
    backfill, VERSION, CREATED, CONNECTION, ALLOCATED, ALLOCATING_FOR, PROPOSED_BODY, BODY, HIDDEN))
  connection = connection or allocated or ''
  if hidden or (connection == '' and not allocating) then
    changes[#changes + 1] = '/' .. backfill_id
    changes[#changes + 1] = ''
    return
  end
  changes[#changes + 1] = '*' .. backfill_id
  changes[#changes + 1] = table.concat({version, generation, created, #connection, connection}, ' ') .. ' '
    .. (proposed_body or body)
end

-- forget deletes the backfill ticket, once it has no proposed tickets, and adds that to changes.
local function forget(changes)
  redis.call('DEL', backfill, joined)
  redis.call('ZREM', backfills, backfill_id)
  changes[#changes + 1] = '/' .. backfill_id
  changes[#changes + 1] = ''
end
