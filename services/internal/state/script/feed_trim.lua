-- Trims the feed to the entries that readers may still need: entries since the feed's position was noted last, which is
-- longer ago than the age. Then the position is noted again. The last entry stays: so a reader that has not read the
-- others finds that they are missing.
-- Full: runs
-- Uses: time
-- KEYS: feed_seq, feed, stream_bytes
-- ARGV: age (in milliseconds), batch (of entries that are removed at once)
-- Result: 1 when there is more to remove, else 0
local now, position = millis(), redis.call('GET', feed_seq)
local since, mark, trimmed = unpack(redis.call('HMGET', stream_bytes, SINCE, MARK, TRIMMED))
since = tonumber(since or 0)
if not position or since <= now and now < since + age then
  return 0
end
if mark and mark ~= trimmed and since <= now and tonumber(mark) <= tonumber(position) then
  if redis.call('XTRIM', feed, 'MINID', '~', mark, 'LIMIT', batch) >= batch / 2 then
    return 1
  end
  redis.call('XTRIM', feed, 'MINID', mark)
  trimmed = mark
end
redis.call('HSET', stream_bytes, SINCE, now, MARK, position, TRIMMED, trimmed or '')
return 0
