-- Functions of scripts that change configs: the history of changes.
--
-- config_changes has a member for each change, '<revision> <bytes> <config>', by when the next change of that config
-- came; +inf for the change that applies. config_history has each change under its revision: the time, a space, one of
-- BECAME, UNKEPT and DELETED, and then what the config was from then on, nothing, or the subject that deleted it. The
-- change that applies has no config there: the stored one is its config.
-- Reads: config_changes, config_history
-- ARGV: changes_bytes (about how many of all changes are kept)

-- grow returns the next revision of the project's configs. It is the time, as settings_put.lua says.
local function grow(counter, now)
  local grown = redis.call('INCR', counter)
  return string.format('%.0f', grown < now and redis.call('INCRBY', counter, now - grown) or grown)
end

-- write_change stores a change that applied until then.
local function write_change(config, revision, ends, text)
  redis.call('HSET', config_history, revision, text)
  redis.call('ZADD', config_changes, ends, string.format('%s %d %s', revision, #text, config))
end

-- take_change removes the change that applies and returns it. One that was forgotten is unknown, and so is its time.
local function take_change(config, revision)
  local text = redis.call('HGET', config_history, revision)
  if text then
    redis.call('HDEL', config_history, revision)
    redis.call('ZREM', config_changes, string.format('%s %d %s', revision, #text, config))
  end
  return text or '0 ' .. BECAME
end

-- begin_change notes that a change applies from now on.
local function begin_change(config, revision, now)
  write_change(config, revision, '+inf', string.format('%.0f ', now) .. BECAME)
end

-- end_change notes that a change does not apply any more, and what the config was; false if that is not kept.
local function end_change(config, revision, now, body)
  local text = take_change(config, revision)
  if not body then
    text, body = string.sub(text, 1, -2) .. UNKEPT, ''
  end
  write_change(config, revision, string.format('%.0f', now), text .. body)
end

-- forget_change removes a change by its member.
local function forget_change(member)
  redis.call('ZREM', config_changes, member)
  redis.call('HDEL', config_history, string.match(member, '^%d+'))
end

-- bound_changes forgets the oldest changes of a config beyond VERSIONS, and of all beyond ALL_VERSIONS and the bytes.
local function bound_changes(config)
  local all, own, gone, kept, bytes = redis.call('ZRANGE', config_changes, 0, -1), {}, {}, {}, 0
  for _, member in ipairs(all) do
    local of = string.match(member, '^%d+ %d+ (.*)$')
    if of == config then
      own[#own + 1] = member
    end
  end
  for n = 1, #own - VERSIONS do
    forget_change(own[n])
    gone[own[n]] = true
  end
  for _, member in ipairs(all) do
    if not gone[member] then
      kept[#kept + 1] = member
      bytes = bytes + #member + tonumber(string.match(member, '^%d+ (%d+) '))
    end
  end
  for n, member in ipairs(kept) do
    if #kept - n < ALL_VERSIONS and bytes <= tonumber(changes_bytes) then
      return
    end
    forget_change(member)
    bytes = bytes - #member - tonumber(string.match(member, '^%d+ (%d+) '))
  end
end
