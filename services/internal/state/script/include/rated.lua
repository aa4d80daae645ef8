-- Functions of ticket_create.lua for projects with ratings. The body of a ticket has room for the ratings of its
-- players, as doubles: rating_slots says where, see rated.go. All that is stored is read at once. They use time, body
-- and standing.
-- Reads: ratings, rated, rating_slots, rated_limit
local begun = {}

-- rating_of returns the mean and the deviation of a player by a rule (state.Current is the same in Go). Where players
-- begin with an attribute, it notes what they begin with in begins.
local function rating_of(stored, rule, start, now, begins)
  for line in string.gmatch(stored, '[^\n]+') do
    local name, season, mean, deviation, volatility, _, changed =
      string.match(line, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
    if name == rule.name then
      mean, deviation, volatility = tonumber(mean), tonumber(deviation), tonumber(volatility)
      local days = math.max(0, now - changed) / 86400000
      local growth = days * (rule.growth + rule.by_volatility * volatility * volatility)
      deviation = math.min(math.sqrt(deviation * deviation + growth), math.max(rule.deviation, deviation))
      if season ~= rule.season and rule.season ~= '-' then
        mean = rule.mean + rule.keep * (mean - rule.mean)
        deviation = rule.deviation + rule.keep * (deviation - rule.deviation)
      end
      return mean, deviation
    end
  end
  if rule.starts then
    begins[#begins + 1] = string.format('%s %s %.17g %.17g %.17g 0 %.0f', rule.name, rule.season, start, rule.deviation,
      rule.volatility, now)
  end
  return start, rule.deviation
end

-- triples reads a list of three numbers each.
local function triples(text)
  local all = {}
  for first, second, third in string.gmatch(text, '([^:,]+):(%d+):(%d+)') do
    all[#all + 1] = {tonumber(first), tonumber(second), tonumber(third)}
  end
  return all
end

-- read_slots reads the rules, the tickets that have ratings, and what is stored of their players.
local function read_slots(tickets)
  local rules, slots, names, stored = {}, {}, {}, {}
  for kind, text in string.gmatch(rating_slots, '(%u) ([^\n]+)') do
    if kind == 'R' then
      local name, season, numbers = string.match(text, '^(%S+) (%S+) (.*)$')
      local n = {}
      for one in string.gmatch(numbers, '%S+') do
        n[#n + 1] = tonumber(one)
      end
      rules[#rules + 1] = {name = name, season = season, mean = n[1], deviation = n[2], volatility = n[3],
        growth = n[4], by_volatility = n[5], keep = n[6], starts = n[7] == 1}
    elseif kind == 'S' then
      local name, ticket = string.match(text, '^(%S+) (%S+)$')
      rules[#rules + 1] = {name = name, is_number = true,
        combine = ticket == 'least' and math.min or ticket == 'greatest' and math.max}
    elseif kind == 'L' then
      slots[#slots].recent = tonumber(text)
    elseif kind == 'T' then
      local number, places = string.match(text, '^(%d+) (.*)$')
      slots[#slots + 1] = {ticket = tickets[tonumber(number)], of = triples(places), players = {}}
    else
      local places, id = string.match(text, '^(%S+) (.*)$')
      table.insert(slots[#slots].players, {id = id, of = triples(places)})
      names[#names + 1] = id
    end
  end
  for from = 1, #names, 1000 do
    for i, value in ipairs(redis.call('HMGET', ratings, unpack(names, from, math.min(from + 999, #names)))) do
      stored[names[from + i - 1]] = value or ''
    end
  end
  return rules, slots, stored
end

-- put_rating writes a rating of the players into their ticket, which has the mean of theirs. What players begin with
-- is in begun.
local function put_rating(slot, i, rule, stored, now)
  local t, sum, variance = slot.ticket, 0, 0
  for _, player in ipairs(slot.players) do
    local begins, of = {}, player.of[i]
    local mean, deviation = rating_of(stored[player.id], rule, of[1], now, begins)
    put(t, of[2], mean)
    put(t, of[3], deviation)
    sum, variance = sum + mean, variance + deviation * deviation
    if begins[1] then
      local before = stored[player.id]
      stored[player.id] = before == '' and begins[1] or before .. '\n' .. begins[1]
      t.begun[player.id] = stored[player.id]
    end
  end
  put(t, slot.of[i][2], sum / #slot.players)
  put(t, slot.of[i][3], math.sqrt(variance / #slot.players))
end

-- rate writes the ratings and the standing of players into the bodies of their tickets.
local function rate(tickets, now)
  if rating_slots == '' then
    return
  end
  local rules, slots, stored = read_slots(tickets)
  for _, slot in ipairs(slots) do
    slot.ticket.begun = {}
    for i, own in ipairs(slot.of) do
      local rule = rules[own[1]]
      if rule.is_number then
        put_number(slot, i, rule, stored)
      else
        put_rating(slot, i, rule, stored, now)
      end
    end
    if slot.recent then
      put_recent(slot, stored, slot.recent)
    end
  end
end

-- begin_ratings stores what the players of a ticket begin with.
local function begin_ratings(t, now)
  for player, lines in pairs(t.begun or begun) do
    if redis.call('ZSCORE', rated, player) or redis.call('ZCARD', rated) < tonumber(rated_limit) then
      redis.call('HSET', ratings, player, lines)
      redis.call('ZADD', rated, now, player)
    end
  end
end
