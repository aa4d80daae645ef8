-- Functions of ticket_create.lua which return why a ticket is not created: pauses, matches without a result, queues and
-- bytes; or store it. They use large, pause and buckets.
-- Reads: queues, running, when_running, party, party_read, heard_every, first_pause, longest_pause, large_size,
--  bytes_limit, player_share, ends_told, waiting, waiting_limit, results_limit, room_from, room_until, history_limit,
--  history_seq
local large_from, serves, used, held, sizes, counted = tonumber(large_size), {}, nil, {}, {}, {}
local room, readable = math.huge, true

-- look looks how many tickets may be created, whether results have room, and until which position that is so.
local function look(position, now, result)
  position = position or history_limit == '0' and math.huge or tonumber(redis.call('GET', history_seq) or 0)
  local left = tonumber(results_limit) > 0 and tonumber(results_limit) or math.huge
  room = tonumber(waiting_limit) > 0 and waiting_limit - redis.call('ZCARD', waiting) or room
  local parts = left < math.huge and redis.call('HGETALL', results) or {}
  for i = 1, #parts, 2 do -- also of tickets that were deleted since
    left = tonumber(parts[i]) > now and left - parts[i + 1] or left
  end
  if math.max(position, math.min(room, left)) < math.huge then
    local n = #result
    result[n + 1], result[n + 2], result[n + 3] = position, 'room', math.min(room, left)
  end
  room, readable = left > 0 and room or 0, left > 0
end

-- is_room reports whether a ticket may be created. Positions, which the first one takes, nearly always tell it.
local function is_room(count, now, result)
  if taken == 0 and room_until - room_from > count then
    take_positions(count + 1)
    if last > tonumber(room_until) or last - taken < tonumber(room_from) then
      look(last - taken, now, result)
    end
  end
  return room > 0
end

-- refuse_pausing names the player that pauses longest, or one that did and was not heard of in the party since.
local function refuse_pausing(t, now)
  local refusal, longest = nil, 0
  if longest_pause == '0' then
    return
  end
  for number, name in ipairs(t.names) do
    local ends, pauses = pause_of(name, now)
    local left = 1000 * (ends - now)
    -- mistake pauseless: left, pauses = 0, 0
    if left > longest then
      refusal, longest = 'paused ' .. number, left
    elseif party_read ~= '' and pauses > 0 and not refusal then
      -- A leader must not search again and again with a member that is away and misses each match.
      local began = ends - math.min(first_pause * 2 ^ math.min(pauses - 1, 30), longest_pause)
      if tonumber(redis.call('HGET', party, HEARD .. name) or 0) + heard_every < began then
        refusal = 'absent ' .. number
      end
    end
  end
  return refusal, longest
end

-- refuse_playing names the match without a result that a player of a ticket is in, if the ticket is refused for that.
-- Where it is told, plays has it.
local function refuse_playing(t)
  if when_running ~= 'refuse' and when_running ~= 'tell' then
    return
  end
  for _, name in ipairs(t.names) do
    local match = redis.call('HGET', running, name)
    if match and when_running == 'refuse' then
      return 'playing', match
    end
    t.plays = t.plays or match or nil
  end
end

-- refuse_unserved names a ticket's queues that no config serves. It charges the players for the search and the answer.
local function refuse_unserved(t, now)
  if t.its_queues == '' then
    return
  end
  local found = {}
  for name in string.gmatch(t.its_queues, '[^ ]+') do
    if serves[name] == nil then
      serves[name] = redis.call('HEXISTS', queues, SERVERS .. name) == 1
    end
    if not serves[name] then
      found[#found + 1] = name
    end
  end
  if #found > 0 then
    charge_players(t.names, now)
    return 'unserved', table.concat(found, ' ')
  end
end

-- refuse_large counts a ticket whose body is large, unless its player or the project has no room for it.
local function refuse_large(t)
  local size = #t.body + #t.its_players
  if size <= large_from then
    return
  end
  local player, limit, most = player_of(t.owner, t.its_players), tonumber(bytes_limit), tonumber(player_share)
  used, held[player] = used or large_bytes(), held[player] or player_bytes(player)
  if most > 0 and held[player] + size > most then
    return 'share'
  elseif limit > 0 and used + size > limit then
    return 'bytes'
  end
  used, held[player] = used + size, held[player] + size
  sizes[#sizes + 1], sizes[#sizes + 2] = t.id, size
  counted[#counted + 1], counted[#counted + 2] = t.id, size .. ' ' .. player
end

-- write_large writes what refuse_large counted.
local function write_large()
  if #sizes > 0 then
    keep(to_text(used), sizes)
    keep_players(counted, held)
  end
end

-- store writes a ticket.
local function store(t, created)
  if t.its_players == '' then
    redis.call('HSET', t.ticket, STATE, WAITING, CREATED, created, OWNER, t.owner, BODY, t.body)
  else
    redis.call('HSET', t.ticket, STATE, WAITING, CREATED, created, OWNER, t.owner, BODY, t.body, PLAYERS, t.its_players)
  end
  if ends_told == '1' then
    redis.call('HSET', t.ticket, TELLS, 1)
  end
  if t.its_queues ~= '' then
    redis.call('HSET', t.ticket, QUEUES, t.its_queues)
  end
end
