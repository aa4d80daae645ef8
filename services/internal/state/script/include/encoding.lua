-- Functions of scripts that read or write parts of encoded records.

-- varint encodes a number.
local function varint(n)
  local bytes = ''
  while n > 127 do
    bytes, n = bytes .. string.char(n % 128 + 128), math.floor(n / 128)
  end
  return bytes .. string.char(n)
end

-- because adds the reason, field 8 of pb.Event, of less than 128 bytes, to an encoded event.
local function because(encoded, reason)
  return encoded .. 'B' .. string.char(#reason) .. reason
end

-- fields_of iterates over the fields of a message: the number of each, where it begins and ends, and where bytes begin.
local function fields_of(text, at, last)
  local function number_at()
    local value, scale = 0, 1
    while true do
      local byte = string.byte(text, at)
      at = at + 1
      value = value + byte % 128 * scale
      if byte < 128 then
        return value
      end
      scale = scale * 128
    end
  end
  return function()
    if at > last then
      return nil
    end
    local begin = at
    local tag = number_at()
    local kind, value = tag % 8, at
    if kind == 0 then
      number_at()
    elseif kind == 1 then
      at = at + 8
    elseif kind == 5 then
      at = at + 4
    else
      local length = number_at()
      value = at
      at = at + length
    end
    return math.floor(tag / 8), begin, at - 1, value
  end
end

-- bytes_field encodes a field of bytes, whose number is less than 16.
local function bytes_field(number, value)
  return string.char(number * 8 + 2) .. varint(#value) .. value
end

-- notes_of returns a list of the properties of a body that are notes of functions, each a name and the encoded field,
-- and a set of the names.
local function notes_of(text)
  local notes, names = {}, {}
  if not string.find(text, NOTE, 1, true) then
    return notes, names
  end
  for number, begin, last, value in fields_of(text, 1, #text) do
    if number == 7 then
      for inner, _, finish, at in fields_of(text, value, last) do
        local name = inner == 1 and string.sub(text, at, finish)
        if name and string.sub(name, 1, #NOTE) == NOTE then
          notes[#notes + 1], names[name] = {name, string.sub(text, begin, last)}, true
        end
      end
    end
  end
  return notes, names
end

-- keep_notes returns a body with the notes of the one before that it does not name, as far as they have room.
local function keep_notes(before, body)
  local notes, named = notes_of(body)
  local size = 0
  for _, note in ipairs(notes) do
    size = size + #note[2]
  end
  for _, note in ipairs((notes_of(before))) do
    if not named[note[1]] and size + #note[2] <= NOTES then
      body, size = body .. note[2], size + #note[2]
    end
  end
  return body
end

-- seats_of returns where the players of a ticket are in the game, as its result says it: the field team of each player
-- of the roster, '' for none, and a list with the field role of each.
local function seats_of(result)
  local team, roles = '', {}
  for number, _, last, value in fields_of(result, 1, #result) do
    if number == 10 then
      team = bytes_field(5, string.sub(result, value, last))
    elseif number == 11 then
      roles[#roles + 1] = value <= last and bytes_field(6, string.sub(result, value, last)) or ''
    end
  end
  return team, roles
end

-- ids_of returns players as the roster has them, without attributes.
local function ids_of(names, team, roles)
  local entries = {}
  for name in string.gmatch(names, '[^\n]+') do
    local seat = team .. (roles[#entries + 1] or '')
    entries[#entries + 1] = bytes_field(11, bytes_field(1, bytes_field(1, name) .. seat))
  end
  return table.concat(entries)
end

-- entries_of returns the players of a ticket as the roster has them: their ids and attributes, and where they are.
local function entries_of(key, names, result)
  local entries, text = {}, redis.call('HGET', key, BODY) or ''
  local team, roles = seats_of(result)
  for number, _, last, value in fields_of(text, 1, #text) do
    if number == 8 then -- a Player
      local kept = {}
      for inner, begin, finish in fields_of(text, value, last) do
        if inner <= 3 then
          kept[#kept + 1] = string.sub(text, begin, finish)
        end
      end
      local seat = team .. (roles[#entries + 1] or '')
      entries[#entries + 1] = bytes_field(11, bytes_field(1, table.concat(kept) .. seat))
    end
  end
  return #entries > 0 and table.concat(entries) or ids_of(names, team, roles)
end
