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
	// at gives a report a time, and a key by which results of the match differ.
	at := func(c history.Call, key string, from, to int, leavers ...string) history.Call {
		c.Key, c.From, c.To, c.Leavers, c.Moved = key, history.Moment(from), history.Moment(to), leavers, map[string]float64{}
		for _, player := range c.Players {
			c.Moved[player] = 3 * float64(len(key))
		}
		return c
	}
	first, next := at(report("m", 200, "player-1"), "a", 1, 2), at(report("m", 200, "player-1"), "bb", 3, 4, "player-1")
	after := func(left int, moved float64, calls ...history.Call) []history.Call {
		c := has("player-1", 1)
		c.Left, c.Moved = left, map[string]float64{"player-1": moved}
		return append(calls, c)
	}
	replaced := []history.Event{told("m", "reported"), told("m", "corrected")}
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
		"replaced":      {after(1, 6, first, next), replaced, ""},
		"too often":     {after(1, 6, first, next), append(replaced, replaced[1]), "corrected 2 times, by the reports 1 to"},
		"sent thrice":   {after(1, 6, first, next, next, next), append(replaced, replaced[1]), "corrected 2 times, by the"},
		"not replaced":  {after(1, 6, first, next), once, "corrected 0 times, by the reports 1 to 1"},
		"none was sent": {twice, append(once, told("n", "reported")), "of match n was reported, and none was sent"},
		"counts late": {after(1, 6, first, at(report("m", 0), "a", 1, 2), next, next),
			append(replaced, replaced[1], replaced[1]), ""},
		"left twice":  {after(2, 6, first, next), replaced, "player-1 left 2 matches, by the results 1 to 1"},
		"rated twice": {after(1, 9, first, next), replaced, "the rating of player-1 has moved by 9, by the results by 6"},
		"late":        {after(0, 3, first, at(report("m", 0), "a", 1, 2), next), replaced, ""},
	} {
		p := &Promise{}
		resultsCountOnce(build(&history.History{Calls: c.calls, Events: c.events}), p, nil)
		if said := strings.Join(p.Broken, "; "); (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: %q", name, said)
		}
		// Nothing moved the player of the one, and the results of the other do.
		want, counted := map[string]int{"once": 0, "replaced": 1}, p.Counts[len(p.Counts)-1]
		if n, is := want[name]; is && counted.Count != n {
			t.Errorf("%s: %v", name, counted)
		}
	}
}
