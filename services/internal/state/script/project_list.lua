-- Lists projects that exist.
-- Full: runs
-- KEYS: projects
-- ARGV: then project…
-- Result: how many were not listed
local added = 0
for n = first_arg, #ARGV do
  added = added + redis.call('SADD', projects, ARGV[n])
end
return added
