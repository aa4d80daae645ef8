-- Adds a project to those that there are.
-- KEYS: projects
-- ARGV: project, limit (of projects, 0 = none)
-- Result: 'ok', also when it is one of them, or 'full'
if redis.call('SISMEMBER', projects, project) == 1 then
  return 'ok'
end
if tonumber(limit) > 0 and redis.call('SCARD', projects) >= tonumber(limit) then
  return 'full'
end
redis.call('SADD', projects, project)
return 'ok'
