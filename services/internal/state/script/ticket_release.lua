-- Takes tickets, or matches of outcomes, that do not exist any more out of the sum of large ones. Those that a process
-- of an older version deleted are still in it.
-- Full: runs
-- Uses: large
-- KEYS: then ticket…
-- ARGV: then id…
-- Result: number of those that do not exist
local gone = {}
for _, ticket, id in each_ticket() do
  if redis.call('EXISTS', ticket) == 0 then
    gone[#gone + 1] = id
  end
end
release(gone)
for _, id in ipairs(gone) do
  release_player(id)
end
return #gone
