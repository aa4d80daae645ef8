package bus_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// statusOf is a heartbeat of n failing instances, each with the longest names, and with a reason as long as there is.
func statusOf(runner string, n int) *pb.RunnerStatus {
	s := &pb.RunnerStatus{Runner: runner, Handing: true, Hosts: map[string]int32{"p": 3}}
	for i := range n {
		s.Instances = append(s.Instances, &pb.InstanceStatus{
			Project: fmt.Sprintf("%064d", i/20), Function: fmt.Sprintf("%064d", i), Name: fmt.Sprintf("%063d", i),
			State: "Terminated", Generation: 1 << 41, Upload: 1 << 20, Reason: strings.Repeat("r", 200), Aside: true,
		})
	}
	return s
}

// grownTo makes a heartbeat that takes so many bytes.
func grownTo(t *testing.T, size int) *pb.RunnerStatus {
	t.Helper()
	s := statusOf("edge", 2000)
	last := s.GetInstances()[1999]
	last.Reason = strings.Repeat("r", 20_000) // its length takes three bytes from here on
	last.Reason += strings.Repeat("r", size-proto.Size(s))
	if proto.Size(s) != size {
		t.Fatalf("%d bytes, want %d", proto.Size(s), size)
	}
	return s
}

// Heartbeats arrive whole however many functions a runner hosts, also of runners that send theirs at the same time.
func TestLongHeartbeatsArriveWhole(t *testing.T) {
	url := server(t)
	got := make(chan *pb.RunnerStatus, 64)
	heard, err := connect(t, url).OnHeartbeat(func(s *pb.RunnerStatus) { got <- s })
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Stop()
	const limit = 1<<20 - 8<<10
	want := map[string][]*pb.RunnerStatus{
		"edge":  {grownTo(t, limit), grownTo(t, limit+1), grownTo(t, 2*limit), grownTo(t, 2*limit+1)},
		"long":  {statusOf("long", 10_000), statusOf("long", 1), statusOf("long", 8_000)},
		"other": {statusOf("other", 9_000), {Runner: "other", Leaving: true}},
	}
	var all sync.WaitGroup
	for _, list := range want {
		b := connect(t, url)
		all.Go(func() {
			for _, s := range list {
				if err := b.Heartbeat(t.Context(), s); err != nil {
					t.Errorf("%s with %d bytes: %v", s.GetRunner(), proto.Size(s), err)
				}
			}
		})
	}
	all.Wait()
	for range 9 {
		s := next(t, got)
		list := want[s.GetRunner()]
		if len(list) == 0 || !proto.Equal(s, list[0]) {
			t.Fatalf("%s: a heartbeat of %d bytes is not the next one", s.GetRunner(), proto.Size(s))
		}
		want[s.GetRunner()] = list[1:]
	}
}

// Of a heartbeat in parts of which one is lost nothing arrives, and the next one does. A reader of an earlier version
// learns from each part that the runner lives, and of no instance.
func TestLostPartOfAHeartbeat(t *testing.T) {
	url := server(t)
	raw, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	messages := make(chan *nats.Msg, 64)
	sub, err := raw.ChanSubscribe("mm.runner", messages)
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Flush(); err != nil {
		t.Fatal(err)
	}
	b, parts := connect(t, url), map[string][]*nats.Msg{}
	for _, name := range []string{"a", "b"} {
		if err := b.Heartbeat(t.Context(), statusOf("r", 6_000+len(parts))); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			msg, part := next(t, messages), new(pb.RunnerStatus)
			if err := proto.Unmarshal(msg.Data, part); err != nil {
				t.Fatal(err)
			}
			part.Part = nil
			if diff := cmp.Diff(&pb.RunnerStatus{Runner: "r", Handing: true}, part, protocmp.Transform()); diff != "" {
				t.Error("an earlier version sees (-want +got)", diff)
			}
			parts[name] = append(parts[name], msg)
		}
	}
	_ = sub.Unsubscribe()

	got := make(chan *pb.RunnerStatus, 64)
	heard, err := b.OnHeartbeat(func(s *pb.RunnerStatus) { got <- s })
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := b.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	for sent, want := range map[string][]int{
		"a0 a1 a2 b0 b1 b2": {6_000, 6_001},
		"a1 a2 b0 b1 b2":    {6_001},
		"a0 a2 b0 b1 b2":    {6_001},
		"a0 a1 b0 b1 b2":    {6_001},
		"a0 b1 b2":          nil,
		"a0 a1 b2":          nil,
		"a0 b0 a1 a2":       nil,
		"a0 a1 a1 a2":       nil,
		"a2 a1 a0":          nil,
		"a0 a1":             nil,
	} {
		for of := range strings.FieldsSeq(sent) {
			if err := raw.PublishMsg(parts[of[:1]][of[1]-'0']); err != nil {
				t.Fatal(err)
			}
		}
		data, err := proto.Marshal(statusOf("r", 0)) // a whole one ends what was begun
		if err != nil {
			t.Fatal(err)
		}
		if err := raw.Publish("mm.runner", data); err != nil {
			t.Fatal(err)
		}
		var instances []int
		for s := next(t, got); len(s.GetInstances()) > 0; s = next(t, got) {
			instances = append(instances, len(s.GetInstances()))
		}
		if !slices.Equal(instances, want) {
			t.Errorf("%s: heartbeats with %v instances, want %v", sent, instances, want)
		}
	}
}
