package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// A result that names an outcome for its properties keeps everything else.
func TestReferredResultKeepsTheRest(t *testing.T) {
	shared := &pb.Assignment{MatchProperties: []byte("large")}
	a := &pb.Assignment{
		Connection: "c", Error: "e", Trace: []byte("t"), Match: "m", Backfill: "b", Properties: []byte("own"),
		MatchProperties: []byte("large"),
	}
	want := &pb.Assignment{
		Connection: "c", Error: "e", Trace: []byte("t"), Match: "m", Backfill: "b", Properties: []byte("own"), Outcome: "o",
	}
	if diff := cmp.Diff(want, outcome{id: "o", shared: shared}.refer(a), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}
