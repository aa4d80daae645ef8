package checker

import (
	"strings"
	"testing"

	"matchmaker.dev/services/test/chaos/history"
)

// A result that counts twice, or not at all, breaks promise 12; one that may have counted does not, nor does an erased
// player.
func TestResultsCountOnce(t *testing.T) {
	report := func(match string, status int, players ...string) history.Call {
		return history.Call{Op: history.Report, Project: "p", Match: match, Status: status, Players: players}
	}
	has := func(player string, games int) history.Call {
		return history.Call{Op: history.Standing, Project: "p", Player: player, Status: 200, Games: games}
	}
	told := func(match, reason string) history.Event {
		return history.Event{Project: "p", Kind: history.Result, Match: match, Reason: reason}
	}
	twice := []history.Call{report("m", 200, "player-1"), report("m", 0), report("m", 200, "player-1")}
	erases := history.Call{Op: history.Delete, Project: "p", Number: 1}
	once := []history.Event{told("m", "reported")}
	for name, c := range map[string]struct {
		calls  []history.Call
		events []history.Event
		says   string
	}{
		"once":          {append(twice, has("player-1", 1)), once, ""},
		"twice":         {append(twice, has("player-1", 2)), once, "player-1 has 2 results, but was in 1 matches"},
		"never":         {append(twice, has("player-1", 0)), once, "player-1 has 0 results, but was in 1 matches"},
		"erased":        {append(twice, has("player-1", 0), erases), once, ""},
		"perhaps":       {append(twice, report("n", 503), has("player-1", 2)), once, ""},
		"told twice":    {twice, append(once, once...), "the event log has it 2 times"},
		"not told":      {twice, nil, "the event log has it 0 times"},
		"a correction":  {twice, append(once, told("m", "corrected")), "was corrected"},
		"missing, then": {twice, append(once, told("m", "missing")), ""},
	} {
		p := &Promise{}
		resultsCountOnce(build(&history.History{Calls: c.calls, Events: c.events}), p, nil)
		if said := strings.Join(p.Broken, "; "); (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: %q", name, said)
		}
	}
}
