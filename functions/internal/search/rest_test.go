package search_test

import (
	"testing"

	"matchmaker.dev/functions/internal/search"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// The oldest anchors are in no match and have very many combinations. They leave work to one that has few.
func TestAnchorsWithManyCombinationsLeaveWork(t *testing.T) {
	pool := oneByOne(20, func(i int) bool { return i == 9 || i == 19 }, judge.Player{"skill": 9.0},
		judge.Player{"skill": 0.0})
	findsOne(t, `{"values": {"skill": "number"}, "teams": [{"name": "all", "size": {"min": 2, "max": 12}}],
		"rules": [{"compare": [{"avg": "skill"}, ">=", 9]}]}`, pool, 16_000_000, 2)
}

// The most teams are tried first and have very many combinations. They leave work to fewer teams.
func TestManyTeamsLeaveWorkToFew(t *testing.T) {
	pool := oneByOne(24, func(i int) bool { return i < 2 }, judge.Player{"skill": 9.0}, judge.Player{"skill": 0.0})
	findsOne(t, `{"values": {"skill": "number"},
		"teams": [{"name": "all", "copies": {"min": 1, "max": 4}, "size": {"min": 1, "max": 4}}],
		"rules": [{"compare": [{"avg": "skill", "in": "match"}, ">=", 9]}, {"gap": "count", "max": 0},
			{"compare": [{"count": "players", "in": "team"}, ">=", 2]}]}`, pool, 16_000_000, 2)
}

// The first anchor is in a match, the last one that is tried of very many. Few tickets have all of the work: a quarter
// of it is too little.
func TestFewTicketsHaveAllOfTheWork(t *testing.T) {
	pool := oneByOne(12, func(i int) bool { return i == 0 || i == 11 }, judge.Player{"skill": 9.0},
		judge.Player{"skill": 0.0})
	findsOne(t, `{"values": {"skill": "number"}, "teams": [{"name": "all", "size": {"min": 2, "max": 16}}],
		"rules": [{"compare": [{"avg": "skill"}, ">=", 9]}]}`, pool, 400_000, 2)
}

// So has a game that few may join: a sixteenth of a quarter is too little.
func TestGamesThatFewMayJoinHaveAllOfTheWork(t *testing.T) {
	pool := oneByOne(8, func(i int) bool { return i == 0 || i == 7 }, judge.Player{"skill": 9.0},
		judge.Player{"skill": 0.0})
	r := parse(t, `{"values": {"skill": "number"},
		"teams": [{"name": "a", "size": {"min": 4, "max": 12}}, {"name": "b", "size": {"min": 4, "max": 12}}],
		"rules": [{"compare": [{"avg": "skill"}, ">=", 9]}, {"gap": "count", "max": 0}], "backfill": {"open": 6}}`)
	member := judge.Member{Player: judge.Player{"skill": 9.0}, Team: "a"}
	games := []*judge.Running{{Room: -1, Members: []judge.Member{member, member}}}
	found := search.Search(r, tickets(pool), asGames(games), 400_000)
	if len(found) != 1 || len(found[0].Teams[1].Tickets) != 2 {
		t.Errorf("found %+v, want two who join", found)
	}
}
