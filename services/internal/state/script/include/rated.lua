-- Functions of ticket_create.lua for projects with ratings. The body of a ticket has room for the ratings of its
-- players, as doubles: rating_slots says where, see rated.go. All that is stored is read at once. They use time, body
-- and standing.
-- Reads: ratings, rated, rating_slots, rated_limit
local begun = {}

-- rating_of returns the mean and the deviation of a player by a rule (state.Current is the same in Go). Where players
-- begin with an attribute, it notes what they begin with in begins.
local function rating_of(stored, rule, start, now, begins)
  local _, last = string.find(stored, rule.mark, 1, true)
  if last then
    local season, mean, deviation, volatility, _, changed =
      string.match(stored, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%d+)', last + 1)
    mean, deviation = tonumber(mean), tonumber(deviation)
    local growth = rule.growth
    if rule.by_volatility > 0 then
      growth = growth + rule.by_volatility * volatility * volatility
    end
    if growth > 0 then
      growth = growth * math.max(0, now - changed) / 86400000
      deviation = math.min(math.sqrt(deviation * deviation + growth), math.max(rule.deviation, deviation))
    end
    if season ~= rule.season and rule.season ~= '-' then
      mean = rule.mean + rule.keep * (mean - rule.mean)
      deviation = rule.deviation + rule.keep * (deviation - rule.deviation)
    end
    return mean, deviation
  end
  if rule.starts then
    begins[#begins + 1] = string.format('%s %s %.17g %.17g %.17g 0 %.0f', rule.name, rule.season, start, rule.deviation,
      rule.volatility, now)
  end
  return start, rule.deviation
end

-- triples reads a list of three numbers each. Most tickets have the same ones.
local read_triples = {}
local function triples(text)
  if not read_triples[text] then
    local all = {}
    for first, second, third in string.gmatch(text, '([^:,]+):(%d+):(%d+)') do
      all[#all + 1] = {tonumber(first), tonumber(second), tonumber(third)}
    end
    read_triples[text] = all
  end
  return read_triples[text]
end

-- read_slots reads the rules, the tickets that have ratings, and what is stored of their players, with a newline
-- before.
local function read_slots(tickets)
  local rules, slots, names, stored = {}, {}, {}, {}
  for kind, first, text in string.gmatch(rating_slots, '(%u) (%S+) ?([^\n]*)') do
    if kind == 'T' then
      slots[#slots + 1] = {ticket = tickets[tonumber(first)], of = triples(text), players = {}}
    elseif kind == 'P' then
      local players = slots[#slots].players
      players[#players + 1] = {id = text, of = triples(first)}
      names[#names + 1] = text
    elseif kind == 'L' then
      slots[#slots].recent = tonumber(first)
    elseif kind == 'S' then
      rules[#rules + 1] = {mark = '\n!' .. first .. ' ', is_number = true,
        combine = text == 'least' and math.min or text == 'greatest' and math.max}
    else
      local season, numbers = string.match(text, '^(%S+) (.*)$')
      local n = {}
      for one in string.gmatch(numbers, '%S+') do
        n[#n + 1] = tonumber(one)
      end
      rules[#rules + 1] = {name = first, mark = '\n' .. first .. ' ', season = season, mean = n[1], deviation = n[2],
        volatility = n[3], growth = n[4], by_volatility = n[5], keep = n[6], starts = n[7] == 1}
    end
  end
  for from = 1, #names, 1000 do
    for i, value in ipairs(redis.call('HMGET', ratings, unpack(names, from, math.min(from + 999, #names)))) do
      stored[names[from + i - 1]] = value and '\n' .. value or ''
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
    if of[2] + of[3] > 0 then
      put(t, of[2], mean, of[3], deviation)
    end
    sum, variance = sum + mean, variance + deviation * deviation
    if begins[1] then
      stored[player.id] = stored[player.id] .. '\n' .. begins[1]
      t.begun = t.begun or {}
      t.begun[player.id] = string.sub(stored[player.id], 2)
    end
  end
  put(t, slot.of[i][2], sum / #slot.players, slot.of[i][3], math.sqrt(variance / #slot.players))
end

-- rate writes the ratings and the standing of players into the bodies of their tickets.
local function rate(tickets, now)
  if rating_slots == '' then
    return
  end
  local rules, slots, stored = read_slots(tickets)
  for _, slot in ipairs(slots) do
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
