-- Functions of ticket_create.lua for projects with ratings. The body of a ticket has room for the ratings of its
-- players, as doubles: rating_slots says where, see rated.go. All that is stored is read at once. They use time, body
-- and standing.
-- Reads: ratings, rated, rating_slots, rated_limit
local begun = {}

-- rating_of returns the mean and the deviation of a player by a rule (state.Current is the same in Go). They are nearly
-- always in the first line of what is stored, and where they do not change with the time, as they are there. Where
-- players begin with an attribute, it notes what they begin with in begun.
local function rating_of(t, name, stored, rule, start, now)
  local mean, deviation, volatility, changed = string.match(stored, rule.usual)
  if deviation and not changed then
    return mean, deviation
  end
  if not rule.season then
    local first, of, least, growth, by_volatility, keep
    rule.season, first, of, least, growth, by_volatility, keep, rule.starts =
      string.match(rule.text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%d)')
    rule.mean, rule.deviation, rule.volatility = tonumber(first), tonumber(of), tonumber(least)
    rule.growth, rule.by_volatility, rule.keep = tonumber(growth), tonumber(by_volatility), tonumber(keep)
  end
  local season, lines = rule.season, begun[name] or stored
  if not deviation then
    local _, last = string.find('\n' .. lines, '\n' .. rule.name .. ' ', 1, true)
    season, mean, deviation, volatility, changed =
      string.match(lines, '^(%S+) (%S+) (%S+) (%S+) %S+ (%d+)', last or #lines + 1)
  end
  if deviation then
    mean, deviation = tonumber(mean), tonumber(deviation)
    local growth = rule.growth + rule.by_volatility * volatility * volatility
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
  if rule.starts == '1' then
    begun[name] = string.format('%s%s%s %s %.17g %.17g %.17g 0 %.0f', lines, lines == '' and '' or '\n', rule.name,
      rule.season, start, rule.deviation, rule.volatility, now)
    t.begins = true
  end
  return start, rule.deviation
end

-- read_slots reads the rules, what each ticket has of its players, and what is stored of these.
local function read_slots(tickets)
  local rules, layouts, names, stored, n = {}, {}, {}, {}, 0
  local function places(text)
    local all = {}
    for first, place, next_place in string.gmatch(text, '([^:,]+):(%d+):(%d+)') do
      all[#all + 1] = {tonumber(first), tonumber(place), tonumber(next_place)}
    end
    return all
  end
  for line in string.gmatch(rating_slots, '([^\n]*)\n') do
    local layout = layouts[line]
    if not layout then
      local kind, name, usual, text = string.match(line, '^(%u)([^\t]*)\t([^\t]*)\t(.*)$')
      if kind then
        rules[#rules + 1] = {name = name, mark = '\n!' .. name .. ' ', usual = usual, text = text,
          is_number = kind == 'S', combine = text == 'least' and math.min or text == 'greatest' and math.max}
      else -- most tickets have the same
        local own, limit, players = string.match(line, '^([^|]*)|(%d*)|(.*)$')
        layout = {own = own and places(own), limit = tonumber(limit or ''), players = {}}
        for one in string.gmatch(players or '', '([^|]*)|') do
          layout.players[#layout.players + 1] = places(one)
        end
        layouts[line] = layout
      end
    end
    if layout then
      n = n + 1
    end
    if layout and layout.own then
      local t = tickets[n]
      t.layout, t.before = layout, #names
      for i = 1, #t.names do
        names[t.before + i] = t.names[i]
      end
    end
  end
  for from = 1, #names, 1000 do
    for i, value in ipairs(redis.call('HMGET', ratings, unpack(names, from, math.min(from + 999, #names)))) do
      stored[from + i - 1] = value or ''
    end
  end
  return rules, stored
end

-- put_rating writes a rating of the players into their ticket, which has the mean of theirs.
local function put_rating(t, i, rule, stored, now)
  local own, count, sum, variance, mean, deviation = t.layout.own[i], #t.names, 0, 0, nil, nil
  for j = 1, count do
    local of = t.layout.players[j][i]
    mean, deviation = rating_of(t, t.names[j], stored[t.before + j], rule, of[1], now)
    if of[2] + of[3] > 0 then
      put(t, of[2], mean, of[3], deviation)
    end
    if count > 1 then
      sum, variance = sum + mean, variance + deviation * deviation
    end
  end
  if count > 1 then
    mean, deviation = sum / count, math.sqrt(variance / count)
  end
  put(t, own[2], mean, own[3], deviation)
end

-- rate writes the ratings and the standing of players into the bodies of their tickets.
local function rate(tickets, now)
  if rating_slots == '' then
    return
  end
  local rules, stored = read_slots(tickets)
  for _, t in ipairs(tickets) do
    if t.layout then
      for i = 1, #t.layout.own do
        local rule = rules[t.layout.own[i][1]]
        if rule.is_number then
          put_number(t, i, rule, stored)
        else
          put_rating(t, i, rule, stored, now)
        end
      end
      if t.layout.limit then
        put_recent(t, stored)
      end
    end
  end
end

-- begin_ratings stores what the players of a ticket begin with.
local function begin_ratings(t, now)
  if not t.begins then
    return
  end
  for _, player in ipairs(t.names) do
    local lines = begun[player]
    if lines and (redis.call('ZSCORE', rated, player) or redis.call('ZCARD', rated) < tonumber(rated_limit)) then
      redis.call('HSET', ratings, player, lines)
      redis.call('ZADD', rated, now, player)
    end
  end
end
