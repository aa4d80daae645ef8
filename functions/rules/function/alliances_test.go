package function

import (
	"slices"
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// Rule sets of AccelByte may allow very many numbers of teams.
func TestManyAlliances(t *testing.T) {
	request := fake.Request{Tickets: slices.Repeat([]fake.Ticket{{}}, 30), Settings: translated(t,
		`{"accelbyte": {"alliance": {"min_number": 2, "max_number": 100, "player_min_number": 1, "player_max_number": 4}}}`)}
	proposals, err := fake.Run(function, request)
	if err != nil || len(proposals) != 1 || len(proposals[0].Tickets()) != 30 {
		t.Errorf("%+v, %v", proposals, err)
	}
}
