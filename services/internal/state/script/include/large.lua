-- Functions of scripts that create, match or delete tickets.
-- KEYS: large

-- Tickets with a large body or result have the size of both in the hash large, whose 'total' is the sum. A project
-- without such tickets has no hash, and pays one call for each script.

-- large_bytes is the sum.
local function large_bytes()
  return tonumber(redis.call('HGET', large, 'total') or 0)
end

-- keep adds tickets, a list of id, size pairs. total is the sum with them.
local function keep(total, sizes)
  redis.call('HSET', large, 'total', total, unpack(sizes))
end

-- release takes tickets that were deleted out of the sum.
local function release(ids)
  if #ids == 0 or redis.call('EXISTS', large) == 0 then
    return
  end
  local freed = 0
  for _, id in ipairs(ids) do
    local size = redis.call('HGET', large, id)
    if size then
      redis.call('HDEL', large, id)
      freed = freed + tonumber(size)
    end
  end
  if freed > 0 and redis.call('HINCRBY', large, 'total', -freed) <= 0 then
    redis.call('DEL', large)
  end
end

-- has_space tells whether large results of this many bytes may be added. limit is the most for all (0 = none).
local function has_space(size, limit)
  limit = tonumber(limit)
  return size == 0 or limit == 0 or large_bytes() + size <= limit
end

-- keep_result adds a ticket with its large result; the size of a small one is 0. A ticket that waits again later keeps
-- its size until it is deleted.
local function keep_result(ticket, id, result_size)
  if tonumber(result_size) == 0 then
    return
  end
  local size = redis.call('HSTRLEN', ticket, BODY) + result_size
  local before = tonumber(redis.call('HGET', large, id) or 0)
  redis.call('HSET', large, id, size)
  redis.call('HINCRBY', large, 'total', size - before)
end
