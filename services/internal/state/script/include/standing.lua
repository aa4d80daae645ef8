-- Functions of ticket_create.lua for projects whose tickets have what is kept of their players. They use body.

-- number_of returns a number of a player's standing, see standing.go.
local function number_of(stored, rule, start)
  local _, last = string.find(stored, rule.mark, 1, true)
  return last and tonumber(string.match(stored, '^%S+', last + 1)) or start
end

-- put_recent adds the property with the last opponents of a ticket's players, without players of the ticket: a JSON
-- array of a limited size.
local function put_recent(slot, stored, limit)
  local seen, list, size = {}, {}, 2
  for _, player in ipairs(slot.players) do
    seen[player.id] = true
  end
  for _, player in ipairs(slot.players) do
    for id in string.gmatch(string.match(stored[player.id], '\n!recent(\t[^\n]+)') or '', '[^\t]+') do
      local text = '"' .. string.gsub(id, '[\\"]', '\\%0') .. '"'
      size = size + #text + 1
      if not seen[id] and size <= limit then
        list[#list + 1] = text
      end
      seen[id] = true
    end
  end
  if #list > 0 then
    local value = '[' .. table.concat(list, ',') .. ']'
    local entry = '\10\6recent\18' .. varint(#value) .. value
    slot.ticket.body = slot.ticket.body .. '\50' .. varint(#entry) .. entry
  end
end

-- put_number writes a number of the players' standing into their ticket.
local function put_number(slot, i, rule, stored)
  local t, all = slot.ticket
  for _, player in ipairs(slot.players) do
    local value = number_of(stored[player.id], rule, player.of[i][1])
    put(t, player.of[i][2], value)
    all = all and (rule.combine and rule.combine(all, value) or all + value) or value
  end
  put(t, slot.of[i][2], rule.combine and all or all / #slot.players)
end
