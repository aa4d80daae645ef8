package event

import (
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

// An allocator is about to write more as long as the last event of a match says that it gets a server.
func TestWhatIsUnderWay(t *testing.T) {
	one := func(match string, kind pb.Event_Kind) *pb.Event { return &pb.Event{Match: match, Kind: kind} }
	created, claimed := one("", pb.Event_KIND_CREATED), one("m", pb.Event_KIND_CLAIMED)
	allocating, assigned := one("m", pb.Event_KIND_ALLOCATING), one("m", pb.Event_KIND_ASSIGNED)
	for name, test := range map[string]struct {
		events []*pb.Event
		want   bool
	}{
		"nothing":                      {nil, false},
		"tickets":                      {[]*pb.Event{created}, false},
		"a claim":                      {[]*pb.Event{created, claimed, created}, true},
		"an allocation":                {[]*pb.Event{claimed, allocating}, true},
		"all of a match":               {[]*pb.Event{claimed, allocating, assigned, created}, false},
		"another one that was claimed": {[]*pb.Event{one("other", pb.Event_KIND_CLAIMED), claimed, assigned}, true},
	} {
		var apart []state.HistoryEntry
		for _, e := range test.events {
			apart = append(apart, state.HistoryEntry{Events: []*pb.Event{e}})
		}
		together := []state.HistoryEntry{{Events: test.events}}
		if isUnderWay(apart) != test.want || isUnderWay(together) != test.want {
			t.Errorf("%s: want %v", name, test.want)
		}
	}
}
