package bus

import (
	"fmt"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// What came of runners that ended before their last part does not fill the memory, and keeps no heartbeat back.
func TestBegunHeartbeatsAreBounded(t *testing.T) {
	begun := heartbeats{}
	for i := range 1000 {
		part := &pb.HeartbeatPart{Heartbeat: 1, Data: []byte("\n\x01")} // a name of one byte follows
		if s := begun.join(&pb.RunnerStatus{Runner: fmt.Sprint(i), Part: part}); s != nil {
			t.Fatal(s)
		}
		if len(begun) > maxBegun {
			t.Fatalf("%d are kept", len(begun))
		}
	}
	last := &pb.HeartbeatPart{Heartbeat: 1, Index: 1, Last: true, Data: []byte("r")}
	if s := begun.join(&pb.RunnerStatus{Runner: "999", Part: last}); s.GetRunner() != "r" {
		t.Error(s)
	}
	late := &pb.HeartbeatPart{Heartbeat: 1, Index: 2, Last: true, Data: []byte("r")}
	if s := begun.join(&pb.RunnerStatus{Runner: "998", Part: late}); s != nil {
		t.Error("a part is missing:", s)
	}
}
