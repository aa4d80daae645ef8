-- Appends an event to the history that goes with no change of the state.
-- KEYS: seq, feed, told, history
-- ARGV: feed and history kept, event, the ids of its tickets with spaces between, how many these are
-- Result: 1
tell({ARGV[3], ARGV[4]}, tonumber(ARGV[5]))
return 1
