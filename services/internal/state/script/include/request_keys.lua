-- Functions of ticket_create.lua for Idempotency-Keys. They are in two hashes, which take turns as the buckets' hashes
-- do. A hash ends when its turn comes again. They use time and rate.
-- Reads: keys_0, keys_1, key_period, key_limit
local keys_now, keys_end, key_room, known, noted = nil, nil, math.huge, {}, {}

-- read_keys reads what was created with the keys of tickets.
local function read_keys(tickets, now)
  local wanted, before, period = {}, nil, tonumber(key_period)
  for _, t in ipairs(tickets) do
    if t.key ~= '' then
      wanted[#wanted + 1] = t.key
    end
  end
  if #wanted == 0 then
    return
  end
  keys_now, before = in_turn(now, period, keys_0, keys_1)
  keys_end = (2 * period - now % period) / 1000
  for _, hash in ipairs({before, keys_now}) do
    for i, value in ipairs(redis.call('HMGET', hash, unpack(wanted))) do
      known[wanted[i]] = value or known[wanted[i]]
    end
  end
  -- mistake keyless: known = {}
  if tonumber(key_limit) > 0 then
    key_room = key_limit - redis.call('HLEN', keys_now) - redis.call('HLEN', before)
  end
end

-- created_before returns what a ticket's key did: 'again' and the ticket that it created, or 'other' and that ticket
-- when the request was another one; nil when the key is new.
local function created_before(t)
  local value = known[t.key]
  if value then
    return string.sub(value, 1, #t.request) == t.request and 'again' or 'other', string.sub(value, #t.request + 1)
  end
end

-- note_key notes what a ticket was created with.
local function note_key(t)
  if t.key ~= '' then
    known[t.key], key_room = t.request .. t.id, key_room - 1
    add(noted, t.key, known[t.key])
  end
end

-- write_keys writes what note_key noted.
local function write_keys()
  if #noted > 0 then
    redis.call('HSET', keys_now, unpack(noted))
    redis.call('PEXPIRE', keys_now, to_text(keys_end))
  end
end
