-- Replaces an old version of a config by the same with its hosting keys encrypted anew, if it is still kept.
-- Full: runs
-- Uses: configs
-- KEYS: config_changes, config_history
-- ARGV: id, number (the revision), before (the change as it was read), after
-- Result: 1 when it was replaced, 0 when not
local member = string.format('%s %d %s', number, #before, id)
local ends = redis.call('ZSCORE', config_changes, member)
if not ends or redis.call('HGET', config_history, number) ~= before then
  return 0
end
redis.call('ZREM', config_changes, member)
write_change(id, number, ends, after)
return 1
