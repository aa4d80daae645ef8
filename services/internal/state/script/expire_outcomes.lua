-- Deletes outcomes whose results can no longer be read.
-- Full: runs
-- Uses: time, large
-- KEYS: then outcome…
-- ARGV: then id…
-- Result: number deleted
local now, gone = millis(), {}
for _, outcome, id in each_outcome() do
  if end_outcome(outcome, id, now) then
    gone[#gone + 1] = OUTCOME .. id
  end
end
release(gone)
return #gone
