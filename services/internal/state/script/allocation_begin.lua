-- Takes the leases of matches, each for one holder, to allocate their servers. From the first lease on, a match goes on
-- without tickets that leave. When a ticket left before, the match is dropped: its other tickets wait again, and the
-- backfill ticket that was created with it is deleted.
-- Full: runs
-- Uses: time, change, large, credit, credit_end, allocation, player, backfill, encoding, roster, place
-- KEYS: waiting, claims, joins, outbox, backfills, then for each match: its key, the keys of its tickets and of its
--       place, see place.lua
-- ARGV: duration (of the leases), search_time (until the search for a server ends), claim_time (until the tickets wait
--       again, counted as the search is) (all three in milliseconds), match_count, then for each match: id,
--       holder, number of tickets, their ids with spaces between, event, dropped event, place
-- Result: feed position (0 unless tickets wait again), then for each match five values: 'ok', 0, 1 for the first lease
--         else 0, for how many milliseconds the search may still go on, of which the leases before had their part, and
--         the ids of the players: newlines between a ticket's players, tabs between the tickets; 'busy', for how many
--         milliseconds another holder still has the lease, 0, 0, ''; 'dropped', 0, 0, 0, and the matches that went to
--         its backfill ticket, with spaces between, which are to be released now; or 'done' (assigned), 'released' or
--         'gone' (ended long ago), 0, 0, 0, ''
local now, k, a = millis(), first_key, first_arg
local events, moved, begun_ids, deadlines, dropped, changes, scores, ends, result = {}, 0, {}, {}, {}, {}, {}, {}, {0}
for _ = 1, tonumber(match_count) do
  local id, holder, count, tickets, event, dropped_event, place = unpack(ARGV, a, a + 6)
  local game = game_of(place, unpack(KEYS, k + 1 + count, k + 3 + count))
  local m = {key = KEYS[k], id = id, holder = holder}
  local refusal, begun, taken_over, time_left = refuse_lease(m, duration, now)
  local n = #result
  if refusal then
    result[n + 1], result[n + 2], result[n + 3], result[n + 4], result[n + 5] = refusal, begun, 0, 0, ''
  else
    local ids, times, names, missing, j = {}, {}, {}, false, 0
    for ticket in string.gmatch(tickets, '[^ ]+') do
      j = j + 1
      local claimed, created, its_players = is_claimed(KEYS[k + j], id)
      if claimed then
        ids[#ids + 1] = ticket
        times[j], names[j] = created, its_players
      else
        missing, names[j] = true, ''
      end
    end
    -- mistake left: missing = false
    moved = moved + #ids
    add(events, missing and not begun and dropped_event or event, table.concat(ids, ' '))
    if missing and not begun then
      j = 0
      for ticket in string.gmatch(tickets, '[^ ]+') do
        j = j + 1
        if times[j] then
          requeue(KEYS[k + j], ticket, times[j], changes, scores)
        end
      end
      -- mistake undropped: m.counted = game and '' or m.counted
      end_of_match(counted_to(m.state, m.counted), ends, '', now)
      release({OUTCOME .. id})
      redis.call('DEL', m.key)
      dropped[#dropped + 1] = id
      local others = game and redis.call('EXISTS', game.key) == 1 and forget(game, changes) or {}
      result[n + 1], result[n + 2], result[n + 3], result[n + 4] = 'dropped', 0, 0, 0
      result[n + 5] = table.concat(others, ' ')
    else
      begun_ids[#begun_ids + 1] = id
      local first, left = take_lease(m, begun, taken_over, time_left, duration, search_time, now)
      add(deadlines, now + left + claim_time - search_time, id)
      result[n + 1], result[n + 2], result[n + 3], result[n + 4] = 'ok', 0, first, left
      result[n + 5] = table.concat(names, '\t')
    end
  end
  k, a = k + 1 + count + (game and 3 or 0), a + 7
end
call_all('ZADD', waiting, scores)
note_ends(ends)
call_all('ZREM', claims, dropped)
call_all('ZREM', outbox, dropped)
call_all('ZREM', outbox, begun_ids)
call_all('ZADD', claims, deadlines)
append_history(events, moved)
result[1] = append_feed(changes)
return result
