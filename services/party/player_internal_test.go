package party

import (
	"testing"

	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

// Games and parties name a player as often as servers and players like. Penalties are told in any case.
func TestWhatAnEraseLeavesIsBounded(t *testing.T) {
	e := new(response.ErasedPlayer)
	for range 2 {
		remainMentions(e, state.Mentions{KickedFrom: make([]string, exportedEach)})
	}
	remainPenalties(e, &response.PlayerExport{Rate: &response.PlayerRate{KeptSeconds: 1}})
	if n := len(e.Remains); n != exportedEach+1 || e.Remains[n-1].Kind != "rate" {
		t.Errorf("%d remain", n)
	}
}
