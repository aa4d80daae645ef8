-- Which Redis it is. One that starts, or takes over from another, may lack what was written last.

-- primary returns the replication id of this Redis, another one after each start and takeover; '' when it does not say.
local function primary()
  local info = redis.pcall('INFO', 'replication')
  return info.err and '' or string.match(info, 'master_replid:(%x+)') or ''
end
