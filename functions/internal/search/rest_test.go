package search_test

import (
	"testing"

	"matchmaker.dev/pkg/matchfn/rules/judge"
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
