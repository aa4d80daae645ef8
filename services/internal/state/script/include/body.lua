-- Functions of ticket_create.lua that change the encoded body of a ticket.

-- put writes doubles into a body, at places that are counted from its end; 0 = none. Two that follow each other are
-- written at once.
local function put(t, place, value, next_place, next_value)
  local bytes, size = nil, 8
  if next_place > 0 and next_place == place - 8 then
    bytes, size = struct.pack('<dd', value, next_value), 16
  elseif next_place > 0 then
    put(t, next_place, next_value, 0)
  end
  if place > 0 then
    bytes = bytes or struct.pack('<d', value)
    t.body = string.sub(t.body, 1, -place - 1) .. bytes .. (place > size and string.sub(t.body, size - place) or '')
  end
end
