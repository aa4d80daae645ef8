-- Notes a change that goes with no other change of the state.
-- Full: runs
-- Uses: audit
-- ARGV: change
-- Result: 1
append_audit(change, '')
return 1
