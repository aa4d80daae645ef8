-- Adds a project to the list of projects.
-- Full: refused
-- KEYS: projects
-- ARGV: project, limit (of projects, 0 = none), may_create (0 = Redis is short of memory)
-- Result: 'ok', also when it is one of them, 'full' or 'short' (of memory)
if redis.call('SISMEMBER', projects, project) == 1 then
  return 'ok'
end
if may_create == '0' then
  return 'short'
end
if tonumber(limit) > 0 and redis.call('SCARD', projects) >= tonumber(limit) then
  return 'full'
end
redis.call('SADD', projects, project)
return 'ok'
