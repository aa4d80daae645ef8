-- Functions of scripts that change which queues configs serve.
-- Reads: queues, unserved

-- join_queue notes that one config more serves a queue.
local function join_queue(name)
  redis.call('HINCRBY', queues, SERVERS .. name, 1)
  redis.call('ZREM', unserved, name)
end

-- leave_queue notes that one config less serves a queue ('' = none). When none is left, it adds an event, which is
-- encoded but for its last field, the queue, whose name has less than 128 bytes. It notes since when the queue is not
-- served, since nothing else proves that its tickets wait in vain.
local function leave_queue(name, event)
  -- mistake queueless: name = ''
  if name == '' or redis.call('HINCRBY', queues, SERVERS .. name, -1) > 0 then
    return
  end
  redis.call('HDEL', queues, SERVERS .. name)
  redis.call('ZADD', unserved, millis(), name)
  redis.call('ZREMRANGEBYRANK', unserved, 0, -NOTED - 1)
  append_history({event .. '\114' .. string.char(#name) .. name, ''}, 0)
end
