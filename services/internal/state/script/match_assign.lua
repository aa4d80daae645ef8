-- Writes the results of matches to their tickets that still exist, and ends the matches. A server that no ticket uses
-- is to be deallocated. The backfill ticket of a new server gets its connection; without one, or without any ticket
-- that uses it, it is deleted. Tickets of a running game join it.
-- Full: runs
-- Uses: time, change, large, credit, credit_end, allocation, player, backfill, encoding, roster, place, result
-- KEYS: claims, joins, outbox, resolved, ended, backfills, then for each match: its key, its outcome's key, the keys of
--       its tickets and of its place, see place.lua, and of its result, if one is awaited
-- ARGV: readable (for how many milliseconds the results are), memory (for how many milliseconds to keep a match that
--       may have a second server), is_told ('1' = the servers of running games learn of it now, else when they
--       approve), match_count, then for each match: id, holder (that must have the lease), number of tickets, their ids
--       with spaces between, event, connection ('' = none), body (of the match when it has a server or may have one, ''
--       = it has none), call_lost ('1' = a call for the server may still arrive), server (to store, '' = none),
--       server_time (for how many milliseconds), target ('' = none), answer (of hosting, see credit.lua), outcome ('' =
--       none), place, made ('=' and what the function made of the running game's backfill ticket, '' = nothing), awaits
--       (see result.lua, '' = no result), number of assignments (1 for all tickets, or one for each), assignments
-- Result: feed position (0 when nothing changed there), then for each match three values: 'ok', or 'room' when matches
--         that had to wait may be claimed now, '1' for each ticket that was assigned or '0', and the matches that go to
--         its backfill ticket, with spaces between: they are to be assigned or released now. When the match had ended
--         before, nothing is written: 'done' (it was assigned), 'busy' (another holder has the lease), 'asked' (its
--         players are still asked), 'lapsed' (its server approves too late, or its game is not what it was),
--         'released' or 'gone' (it is not known any more), and '', ''
-- mistake revenant: local function is_claimed() return true end
local now, k, a, in_outbox = millis(), first_key, first_arg, false
local expiry = now + readable
local all, count, ended_ids, keep, events, ends, result, changes, games = {}, 0, {}, {}, {}, {}, {0}, {}, {}
for i = 1, tonumber(match_count) do
  local id, holder, tickets, ids, event, connection, body, call_lost, server, server_time, target, answer, outcome,
    place, made, awaits, assignments = unpack(ARGV, a, a + 16)
  local game = game_of(place, unpack(KEYS, k + 2 + tickets, k + 4 + tickets))
  local m = {key = KEYS[k], id = id, holder = holder, connection = connection, body = body, call_lost = call_lost,
    server = server, server_time = server_time}
  local refusal, contested = refuse_end(m, now)
  local is_joining = game and game.is_running
  if is_joining and (not refusal or refusal == 'asked') then
    refusal = refuse_arrival(id, m.state, now)
  end
  if refusal then
    result[3 * i - 1], result[3 * i], result[3 * i + 1] = refusal, '', ''
  else
    local j, all_ids, assigned, flags, keys, their_results = 0, {}, {}, {}, {}, {}
    for ticket_id in string.gmatch(ids, '[^ ]+') do
      j = j + 1
      all_ids[j] = ticket_id
      local ticket = KEYS[k + 1 + j]
      -- mistake partly: ticket = #assigned == 0 and ticket or m.key
      if is_claimed(ticket, id) then
        local assignment = ARGV[a + 16 + math.min(j, tonumber(assignments))]
        resolve(ticket, assignment)
        assigned[#assigned + 1], keys[#keys + 1] = ticket_id, ticket
        their_results[#keys] = assignment
        flags[j] = '1'
      else
        flags[j] = '0'
      end
    end
    if awaits ~= '' and #assigned > 0 then
      await_result(KEYS[k + 2 + tickets + (game and 3 or 0)], awaits, k + 1, all_ids, flags, now)
    end
    if outcome ~= '' and #assigned > 0 then
      keep_outcome(KEYS[k + 1], id, outcome, expiry)
    elseif outcome ~= '' then
      release({OUTCOME .. id})
    end
    local counted = counted_to(m.state, m.counted)
    -- mistake unreturned: counted = game and '' or counted
    local room = end_of_match(counted, ends, answer, now)
    reopen_offered(m.state, m.counted, now)
    if connection ~= '' then
      note_served(target, now)
    end
    local is_used, others = connection ~= '' and #assigned > 0, {}
    if is_joining then
      game.made = made
      arrive(game, id, assigned, keys, their_results, is_told == '1', now)
      redis.call('DEL', m.key)
      games[game.id] = game
    else
      local kept = end_match(m, is_used, contested, expiry, memory, now)
      if kept then
        add(keep, kept, id)
      end
      ended_ids[#ended_ids + 1] = id
      in_outbox = in_outbox or m.state ~= ALLOCATING -- which left the outbox when it began
    end
    if game and not is_joining and redis.call('EXISTS', game.key) == 1 then
      others = is_used and serve_game(game, connection, now, changes) or forget(game, changes)
    end
    result[3 * i - 1], result[3 * i] = room and 'room' or 'ok', table.concat(flags)
    result[3 * i + 1] = table.concat(others, ' ')
    add(events, event, table.concat(assigned, ' '))
    if #assigned > 0 then
      all[#all + 1] = events[#events]
      count = count + #assigned
    end
  end
  k, a = k + 2 + tickets + (game and 3 or 0) + (awaits ~= '' and 1 or 0), a + 17 + assignments
end
note_ends(ends)
call_all('ZREM', claims, ended_ids)
call_all('ZREM', outbox, in_outbox and ended_ids or {})
append_history(events, count)
call_all('ZADD', ended, keep) -- until when matches are kept
keep_results(all, count, now, readable)
for _, game in pairs(games) do
  describe(game, changes, now)
end
result[1] = append_feed(changes)
return result
