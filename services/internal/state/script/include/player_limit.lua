-- Functions of ticket_create.lua for projects that list the tickets of their players. An older ticket is a table of its
-- fields, its key, the match that the caller read as its match, and that one's key. They use change, listed, ended and
-- acceptance.
-- Reads: waiting, listing, player_limit, replaces, older_count, longest_pause
local older, most_open, none = {}, listing == '1' and tonumber(player_limit) or 0, {}

-- read_older takes the older tickets from the ends of KEYS and ARGV.
local function read_older()
  for n = 1, tonumber(older_count) do
    local key, argument = #KEYS - 2 * older_count + 2 * n - 1, #ARGV - 2 * older_count + 2 * n - 1
    local one = {ticket = KEYS[key], match = ARGV[argument + 1], match_key = KEYS[key + 1]}
    one.state, one.by, one.owner, one.players, one.told =
      unpack(redis.call('HMGET', one.ticket, STATE, RESERVED_BY, OWNER, PLAYERS, TELLS))
    older[ARGV[argument]] = one
  end
end

-- can_end reports whether a ticket can be ended: a claimed one can until its match's server is asked for.
local function can_end(one)
  if one.state ~= CLAIMED then
    return true
  elseif one.by ~= one.match then
    return false
  end
  local state = redis.call('HGET', one.match_key, STATE)
  -- Where players that declined pause, they do not decline in this way.
  return state == CLAIMED or longest_pause == '0' and (state == OFFERED or state == ACCEPTED or state == DECLINED)
end

-- make_room returns why a ticket is refused, and a value, or nil and the older tickets that end for it.
local function make_room(t)
  if most_open == 0 then
    return nil, none
  end
  local unknown, ends, is_ending, taken = {}, {}, {}, nil
  for _, name in ipairs(t.names) do
    local open = {}
    for _, id in ipairs(list_of(name)) do
      local one = older[id]
      if not one then
        unknown[#unknown + 1] = id
      elseif one.state and one.state ~= RESOLVED and not is_ending[id] then
        open[#open + 1] = id
      end
    end
    -- mistake unlimited: open = {}
    local excess = #open - most_open + 1
    for _, id in ipairs(open) do
      local one = older[id]
      if excess > 0 and one.state == CLAIMED and one.by ~= one.match then
        unknown[#unknown + 1] = id
      elseif excess > 0 and replaces == '1' and can_end(one) then
        excess, is_ending[id] = excess - 1, true
        ends[#ends + 1] = id
      end
    end
    for _, id in ipairs(open) do
      if excess > 0 and not is_ending[id] then
        taken = taken or id
      end
    end
  end
  if #unknown > 0 then
    return 'older', table.concat(unknown, ' ')
  elseif taken then
    return 'taken', taken
  end
  return nil, ends
end

-- replace ends an older ticket for a newer one, and adds it to changes and to told or deleted.
local function replace(id, changes, told, deleted)
  local one = older[id]
  end_ticket(one.ticket, id, one.owner, one.players, one.told, 'replaced', told, deleted)
  if one.state == WAITING then
    redis.call('ZREM', waiting, id)
    changes[#changes + 1], changes[#changes + 2] = '-' .. id, ''
  elseif one.state == CLAIMED then
    disagree(one.match_key, one.match)
  end
  one.state = one.told and RESOLVED
end

-- enlist lists a ticket that was created. The oldest one that has a result leaves a list that is full; where nothing is
-- known of the others, the oldest.
local function enlist(t)
  for _, name in ipairs(listing == '1' and t.names or none) do
    local list, drop = list_of(name), 1
    list[#list + 1] = t.id
    for n = #list, 1, -1 do
      if older[list[n]] and older[list[n]].state == RESOLVED then
        drop = n
      end
    end
    if #list > LISTED then
      table.remove(list, drop)
    end
    write_list(name, list)
  end
end
