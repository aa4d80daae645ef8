-- Functions of scripts that change which queues configs serve.
-- Reads: queues

-- leave_queue notes that one config less serves a queue ('' = none). When none is left, an event tells of it: it is
-- encoded but for its last field, the queue, whose name has less than 128 bytes.
local function leave_queue(name, event)
  if name == '' or redis.call('HINCRBY', queues, SERVERS .. name, -1) > 0 then
    return
  end
  redis.call('HDEL', queues, SERVERS .. name)
  append_history({event .. '\114' .. string.char(#name) .. name, ''}, 0)
end
