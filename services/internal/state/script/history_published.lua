-- Notes how far a project's history was published, and trims what lies before it. The entry at the place itself stays:
-- its check shows whether the history is still the same.
-- Full: runs
-- KEYS: published, history
-- ARGV: bookmark, position (of the bookmark)
-- Result: 'ok'
redis.call('SET', published, bookmark)
redis.call('XTRIM', history, 'MINID', '~', position)
return 'ok'
