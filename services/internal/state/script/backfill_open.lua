-- Claims the tickets of a match, all or nothing, for the director that holds the lease, and creates the backfill ticket
-- of its server, which is still to be allocated.
-- KEYS: seq, feed, told, history, waiting, claims, outbox, lease, revisions, match, backfills, backfill, then the match's ticket keys
-- ARGV: feed and history kept, epoch, now, deadline of the claim, config, revision, match id, body of the match,
--       backfill id, body of the backfill ticket, event, then id of each ticket
-- Result: as backfill_propose.lua
-- Error: STALE when the lease has another epoch
if redis.call('HGET', KEYS[8], 'epoch') ~= ARGV[3] then
  return redis.error_reply('STALE the lease has passed on')
end
if redis.call('HGET', KEYS[9], ARGV[6]) ~= ARGV[7] then
  return {'config', 0}
end
for i = 13, #KEYS do
  if redis.call('HGET', KEYS[i], 's') ~= 'w' then
    return {ARGV[i], 0}
  end
end
local fields, ids = {}, {}
for i = 13, #KEYS do
  redis.call('HSET', KEYS[i], 's', 'c', 'm', ARGV[8])
  redis.call('ZREM', KEYS[5], ARGV[i])
  ids[#ids + 1] = ARGV[i]
  fields[#fields + 1] = '-' .. ARGV[i]
  fields[#fields + 1] = ''
end
redis.call('HSET', KEYS[10], 'b', ARGV[9], 's', 'c')
redis.call('ZADD', KEYS[6], ARGV[5], ARGV[8])
redis.call('ZADD', KEYS[7], ARGV[4], ARGV[8])
redis.call('HSET', KEYS[12], 'v', 1, 'c', ARGV[4], 'o', ARGV[8], 'b', ARGV[11], 'm', ARGV[8])
redis.call('ZADD', KEYS[11], ARGV[4], ARGV[10])
show(KEYS[12], ARGV[10], fields)
tell({ARGV[12], table.concat(ids, ' ')}, #ids)
return {'ok', feed(fields)}
