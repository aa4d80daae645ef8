-- Appends an event to the history that goes with no change of the state.
-- Full: runs
-- Uses: change
-- ARGV: event, tickets (ids with spaces between), count (of tickets)
-- Result: 1
append_history({event, tickets}, tonumber(count))
return 1
