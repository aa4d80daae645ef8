-- Functions of scripts that create, match or delete tickets.
-- KEYS: large_sizes, outcomes, large_players

-- Tickets with a large body have its size in the hash large_sizes, and so have outcomes. Its 'total' is the sum. A
-- project without such tickets has no hash, and pays one call for each script.

-- large_bytes is the sum.
local function large_bytes()
  return tonumber(redis.call('HGET', large_sizes, 'total') or 0)
end

-- keep adds tickets, a list of id, size pairs. total is the sum with them.
local function keep(total, sizes)
  redis.call('HSET', large_sizes, 'total', total, unpack(sizes))
end

-- Each large ticket counts to one player. The hash large_players has of each ticket its size and a digest of that
-- player, with a space between, and of each digest the sum. So it is no list of players, and ends with the tickets.

-- player_of returns a digest of the player that a ticket counts to: the first that it names, or its owner.
local function player_of(owner, its_players)
  return string.sub(redis.sha1hex(string.match(its_players, '^[^\n]+') or owner), 1, 20)
end

-- player_bytes is the sum of a player.
local function player_bytes(player)
  return tonumber(redis.call('HGET', large_players, OF_PLAYER .. player) or 0)
end

-- keep_players adds tickets, a list of id, 'size player' pairs, and the new sums of their players.
local function keep_players(tickets, sums)
  for player, sum in pairs(sums) do
    add(tickets, OF_PLAYER .. player, string.format('%.0f', sum))
  end
  redis.call('HSET', large_players, unpack(tickets))
end

-- release_player takes a ticket out of the sum of its player.
local function release_player(id)
  local size, player = string.match(redis.call('HGET', large_players, id) or '', '^(%d+) (%x+)$')
  if size then
    redis.call('HDEL', large_players, id)
    if redis.call('HINCRBY', large_players, OF_PLAYER .. player, -size) <= 0 then
      redis.call('HDEL', large_players, OF_PLAYER .. player)
    end
  end
end

-- release takes tickets and outcomes that were deleted out of the sum.
local function release(ids)
  -- mistake heavy: ids = {}
  if #ids == 0 or redis.call('EXISTS', large_sizes) == 0 then
    return
  end
  local freed = 0
  for _, id in ipairs(ids) do
    local size = redis.call('HGET', large_sizes, id)
    if size then
      redis.call('HDEL', large_sizes, id)
      release_player(id)
      freed = freed + tonumber(size)
    end
  end
  if freed > 0 and redis.call('HINCRBY', large_sizes, 'total', -freed) <= 0 then
    redis.call('DEL', large_sizes)
  end
end

-- has_space reports whether an outcome of this many bytes may be added. limit is the most for all (0 = none).
local function has_space(size, limit)
  limit = tonumber(limit)
  return size == 0 or limit == 0 or large_bytes() + size <= limit
end

-- An outcome is the common part of the results of a match, when it is large. It is stored once, and the results name
-- it. The hash large_sizes has its size from the claim on.

-- count_outcome counts an outcome of this many bytes.
local function count_outcome(id, size)
  size = tonumber(size)
  local before = tonumber(redis.call('HGET', large_sizes, OUTCOME .. id) or 0)
  if size ~= before then
    redis.call('HSET', large_sizes, OUTCOME .. id, size)
    redis.call('HINCRBY', large_sizes, 'total', size - before)
  end
end

-- keep_outcome stores an outcome until at least then. An empty one is none.
local function keep_outcome(key, id, body, expiry)
  if body ~= '' then
    count_outcome(id, #body)
    redis.call('HSET', key, BODY, body)
    redis.call('ZADD', outcomes, expiry + OUTCOME_SLACK, id)
  end
end
