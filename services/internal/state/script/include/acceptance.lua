-- Functions of scripts that ask the players of a match whether they accept it. Until the acceptance ends, the match is
-- among claims by the time until which they may answer, and by 0 when all accepted, or one declined or left. They use
-- player and primary.
-- Reads: claims

-- offer claims tickets, KEYS[from] to KEYS[to], for a match that asks their players. counted is its target, '' = none.
local function offer(match_key, id, body, from, to, time, now, counted)
  local asked = 0
  for i = from, to do
    redis.call('HSET', KEYS[i], STATE, CLAIMED, RESERVED_BY, id, ASKED, id)
    local _, newlines = string.gsub(names_of(KEYS[i]), '\n', '\n')
    asked = asked + newlines + 1
  end
  redis.call('HSET', match_key, BODY, body, STATE, OFFERED, ASKED, asked, DEADLINE, now + time, COUNTED, counted,
    ASKED_BY, primary())
end

-- disagree ends the acceptance of a match, since a player declined or left. It reports whether it did.
local function disagree(match_key, id)
  local state = redis.call('HGET', match_key, STATE)
  if state ~= OFFERED and state ~= ACCEPTED then
    return false
  end
  redis.call('HSET', match_key, STATE, DECLINED)
  redis.call('ZADD', claims, 'XX', 0, id)
  return true
end

-- forget_answers removes the acceptance from a match that goes on.
local function forget_answers(match_key)
  local known, fields = {ASKED, AGREED, DEADLINE, ASKED_BY}, redis.call('HKEYS', match_key)
  for _, field in ipairs(fields) do
    if string.sub(field, 1, #ANSWER) == ANSWER then
      known[#known + 1] = field
    end
    if #known == 1000 then
      redis.call('HDEL', match_key, unpack(known))
      known = {}
    end
  end
  call_all('HDEL', match_key, known)
end
