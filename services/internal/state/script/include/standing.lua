-- Functions of ticket_create.lua for projects whose tickets have what is kept of players. They use body and encoding.

-- number_of returns a number of a player's standing, see standing.go.
local function number_of(stored, rule, start)
  local _, last = string.find(stored, rule.mark, 1, true)
  return tonumber(last and string.match(stored, '^%S+', last + 1) or string.match(stored, rule.usual) or start)
end

-- put_recent adds the last opponents of a ticket's players, not its own players, as a JSON array of a limited size.
local function put_recent(t, stored)
  local seen, list, size = {}, {}, 2
  for _, name in ipairs(t.names) do
    seen[name] = true
  end
  for j in ipairs(t.names) do
    local _, last = string.find(stored[t.before + j], '!recent\t', 1, true)
    for id in string.gmatch(last and string.match(stored[t.before + j], '[^\n]+', last) or '', '[^\t]+') do
      local text = '"' .. string.gsub(id, '[\\"]', '\\%0') .. '"'
      size = size + #text + 1
      if not seen[id] and size <= t.layout.limit then
        list[#list + 1] = text
      end
      seen[id] = true
    end
  end
  if #list > 0 then
    local value = '[' .. table.concat(list, ',') .. ']'
    local entry = '\10\6recent\18' .. varint(#value) .. value
    t.body = t.body .. '\50' .. varint(#entry) .. entry
  end
end

-- put_number writes a number of the players' standing into their ticket.
local function put_number(t, i, rule, stored)
  local own, all, combine = t.layout.own[i], nil, rule.combine
  for j in ipairs(t.names) do
    local of = t.layout.players[j][i]
    local value = number_of(stored[t.before + j], rule, of[1])
    put(t, of[2], value, 0)
    all = all and (combine and combine(all, value) or all + value) or value
  end
  put(t, own[2], combine and all or all / #t.names, 0)
end
