-- Functions of ticket_create.lua that change the encoded body of a ticket.

-- double returns the eight bytes of a number, the least first (IEEE 754).
local function double(n)
  local sign, bytes = 0, {}
  n = tonumber(n)
  if n < 0 then
    sign, n = 128, -n
  end
  local fraction, exponent = math.frexp(n)
  fraction, exponent = (2 * fraction - 1) * 2 ^ 52, exponent + 1022
  if n == 0 or exponent < 1 then
    fraction, exponent = 0, 0
  end
  for i = 1, 6 do
    bytes[i] = string.char(fraction % 256)
    fraction = math.floor(fraction / 256)
  end
  return table.concat(bytes) .. string.char(exponent % 16 * 16 + fraction, sign + math.floor(exponent / 16))
end

-- put writes doubles into a body, at places that are counted from its end; 0 = none. Two that follow each other are
-- written at once. Redis has a library for doubles.
local function put(t, place, value, next_place, next_value)
  local struct, bytes, size = rawget(_G, 'struct'), nil, 8
  if next_place > 0 and next_place == place - 8 then
    bytes, size = struct and struct.pack('<dd', value, next_value) or double(value) .. double(next_value), 16
  elseif next_place > 0 then
    put(t, next_place, next_value, 0)
  end
  if place > 0 then
    bytes = bytes or struct and struct.pack('<d', value) or double(value)
    t.body = string.sub(t.body, 1, -place - 1) .. bytes .. (place > size and string.sub(t.body, size - place) or '')
  end
end
