-- Functions of scripts that note changes and their authors: a stream with the latest changes of a project.
-- KEYS: audit

-- append_audit notes a change, encoded, and the revision of it ('' = none).
local function append_audit(change, revision)
  redis.call('XADD', audit, 'MAXLEN', AUDITED, '*', BODY, change, REVISION, revision)
  redis.call('PEXPIRE', audit, AUDIT_TIME)
end

-- forget_audit deletes the changes that are too old.
local function forget_audit(now)
  redis.call('XTRIM', audit, 'MINID', string.format('%.0f', now - AUDIT_TIME))
end
