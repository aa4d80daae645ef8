-- Writes the results of matches to those of their tickets that still exist, and ends the matches. A server that no
-- ticket uses is to be deallocated. Matches with backfill tickets have match_assign_backfill.lua.
-- Full: runs
-- Uses: time, change, large, credit, allocation
-- KEYS: claims, outbox, resolved, then for each match: its key, that of its outcome, and the keys of its tickets
-- ARGV: readable (for how many milliseconds the results are), memory (for how many milliseconds to keep a match that
--       may have a second server), match_count, then for each match: id, holder (that must have the lease), number of
--       tickets, their ids with spaces between, event, connection ('' = none), body (of the match when it has a server
--       or may have one, '' = it has none), call_lost ('1' = a call for the server may still arrive), server (to store,
--       '' = none), server_time (for how many milliseconds), target ('' = none), answer (of hosting, see credit.lua),
--       outcome ('' = none), number of assignments (1 for all tickets, or one for each), assignments
-- Result: for each match two values: 'ok', or 'room' when matches that had to wait may be claimed now, and '1' for each
--         ticket that was assigned or '0'. When the match had ended before, nothing is written: 'done' (it was
--         assigned), 'busy' (another holder has the lease), 'asked' (its players are still asked, and it is to be
--         released with its server), 'released' or 'gone' (it is not known any more), and ''
-- mistake revenant: local function is_claimed() return true end
local now, k, a = millis(), first_key, first_arg
local expiry = now + readable
local all, count, ended_ids, keep, events, ends, result = {}, 0, {}, {}, {}, {}, {}
for i = 1, tonumber(match_count) do
  local id, holder, tickets, ids, event, connection, body, call_lost, server, server_time, target, answer, outcome,
    assignments = unpack(ARGV, a, a + 13)
  local m = {key = KEYS[k], id = id, holder = holder, connection = connection, body = body, call_lost = call_lost,
    server = server, server_time = server_time}
  local refusal, contested = refuse_end(m, now)
  if refusal then
    result[2 * i - 1], result[2 * i] = refusal, ''
  else
    local j, assigned, flags = 0, {}, {}
    for ticket_id in string.gmatch(ids, '[^ ]+') do
      j = j + 1
      local ticket = KEYS[k + 1 + j]
      -- mistake partly: ticket = #assigned == 0 and ticket or m.key
      if is_claimed(ticket, id) then
        resolve(ticket, ARGV[a + 13 + math.min(j, tonumber(assignments))])
        assigned[#assigned + 1] = ticket_id
        flags[j] = '1'
      else
        flags[j] = '0'
      end
    end
    if outcome ~= '' and #assigned > 0 then
      keep_outcome(KEYS[k + 1], id, outcome, expiry)
    elseif outcome ~= '' then
      release({OUTCOME .. id})
    end
    local room = end_of_match(counted_to(m.state, m.counted, target), ends, answer, now)
    reopen_offered(m.state, m.counted, now)
    if connection ~= '' then
      note_served(target, now)
    end
    result[2 * i - 1], result[2 * i] = room and 'room' or 'ok', table.concat(flags)
    local kept = end_match(m, connection ~= '' and #assigned > 0, contested, expiry, memory, now)
    if kept then
      keep[#keep + 1] = kept
      keep[#keep + 1] = id
    end
    ended_ids[#ended_ids + 1] = id
    events[#events + 1] = event
    events[#events + 1] = table.concat(assigned, ' ')
    if #assigned > 0 then
      all[#all + 1] = events[#events]
      count = count + #assigned
    end
  end
  k, a = k + 2 + tickets, a + 14 + assignments
end
note_ends(ends)
if #ended_ids > 0 then
  redis.call('ZREM', claims, unpack(ended_ids))
  redis.call('ZREM', outbox, unpack(ended_ids))
  append_history(events, count)
end
keep_ended(keep)
keep_results(all, count, now, readable)
return result
