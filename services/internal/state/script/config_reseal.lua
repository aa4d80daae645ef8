-- Replaces an old version of a config by the same with its hosting keys encrypted anew, if it is still kept.
-- Full: runs
-- Uses: configs
-- ARGV: id, number (the revision), before (the change as it was read), after
-- Result: 1 when it was replaced, 0 when not
return replace_change(id, number, before, after) and 1 or 0
