-- Proposes the tickets of a match to a backfill ticket, all or nothing, for the director that holds the lease. A function saw
-- the backfill ticket at one generation, and at that alone the proposal counts.
-- KEYS: seq, feed, told, history, waiting, proposed, lease, revisions, backfill, its proposed tickets, then the match's ticket keys
-- ARGV: feed and history kept, epoch, deadline of the approval, config, revision, backfill id, generation,
--       what the function made of the backfill ticket, behind a '=' ('' = nothing), how many proposed tickets are enough,
--       event, then id, assignment of each ticket
-- Result: 'ok', 'config' (changed or deleted), 'backfill' (changed or deleted) or the id of a ticket that does not wait;
--         feed position (0 unless 'ok')
-- Error: STALE when the lease has another epoch
if redis.call('HGET', KEYS[7], 'epoch') ~= ARGV[3] then
  return redis.error_reply('STALE the lease has passed on')
end
if redis.call('HGET', KEYS[8], ARGV[5]) ~= ARGV[6] then
  return {'config', 0}
end
local id, bf, bp = ARGV[7], KEYS[9], KEYS[10]
local t = redis.call('HMGET', bf, 'g', 'h', 'm')
if t[1] ~= ARGV[8] or t[2] then
  return {'backfill', 0}
end
for i = 11, #KEYS do
  if redis.call('HGET', KEYS[i], 's') ~= 'w' then
    return {ARGV[2 * i - 10], 0}
  end
end
local fields, ids = {}, {}
for i = 11, #KEYS do
  local ticket = ARGV[2 * i - 10]
  redis.call('HSET', KEYS[i], 's', 'p', 'm', id)
  redis.call('HSET', bp, ticket, ARGV[2 * i - 9])
  redis.call('ZREM', KEYS[5], ticket)
  ids[#ids + 1] = ticket
  fields[#fields + 1] = '-' .. ticket
  fields[#fields + 1] = ''
end
-- A server that is being allocated speaks later, and its tickets end with the allocation.
redis.call('ZADD', KEYS[6], 'NX', t[3] and '+inf' or ARGV[4], id)
if ARGV[9] ~= '' then
  redis.call('HSET', bf, 'n', string.sub(ARGV[9], 2))
end
-- When it says nothing of these tickets, the next function would send others to the same places.
if ARGV[9] == '' or redis.call('HLEN', bp) >= tonumber(ARGV[10]) then
  redis.call('HSET', bf, 'h', 'p')
end
show(bf, id, fields)
tell({ARGV[11], table.concat(ids, ' ')}, #ids)
return {'ok', feed(fields)}
