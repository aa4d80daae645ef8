package engine

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/invocation/invocationtest"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/sandbox"
)

// The function rules works on changes, and no check finds that it overlooks a match: while players of five against five
// come, go, wait longer, and are matched or not.
func TestRulesOfChangesOverlookNobody(t *testing.T) {
	settings, err := os.ReadFile("../../../pkg/matchfn/rules/testdata/five.json")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 8))
	f := matchfn.NewMatcher(function.Begin, function.Options()...)
	index, inv, session := pool.New(), &invocation.Invoker{}, invocation.NewSession(1<<30, 0, 0)
	m := f.Manifest()
	needs := invocation.NeedsOf(sandbox.Manifest{
		Attributes: m.Attributes, Properties: m.Properties,
		AttributeSettings: m.AttributeSettings, PropertySettings: m.PropertySettings, Columns: true,
		Players: &block.PlayerManifest{
			Attributes: m.Players.Attributes, Properties: m.Players.Properties,
			AttributeSettings: m.Players.AttributeSettings, PropertySettings: m.Players.PropertySettings,
		},
	})
	now, next, matches, bytes := int64(1_900_000_000_000), 0, 0, []int64{}
	waiting := map[string]bool{}
	for step := range 120 {
		now += random.Int64N(3000)
		come := random.IntN(40)
		if step == 0 {
			come = 3000
		}
		for range come {
			next++
			one := &pb.Ticket{
				Id: fmt.Sprint("t", next), Owner: fmt.Sprint("o", next), Created: now - random.Int64N(1000),
				AttributeNames: []string{"skill"}, AttributeValues: []float64{120_000 * random.Float64()},
			}
			near := random.IntN(3)
			for k := range 1 + random.IntN(3)*random.IntN(2) {
				one.Players = append(one.Players, &pb.Player{Id: fmt.Sprint("p", next, "-", k), Properties: map[string][]byte{
					"roles":   fmt.Appendf(nil, `["%s"]`, []string{"tank", "healer", "damage", "damage"}[random.IntN(4)]),
					"latency": fmt.Appendf(nil, `{"eu":%d,"us":%d,"as":%d}`, 20+60*near, 20+60*((near+1)%3), 20+60*((near+2)%3)),
				}})
			}
			raw, err := proto.Marshal(one)
			if err != nil {
				t.Fatal(err)
			}
			if err := index.Put(one.GetId(), raw); err != nil {
				t.Fatal(err)
			}
			waiting[one.GetId()] = true
		}
		for _, id := range slices.Sorted(maps.Keys(waiting)) {
			if random.IntN(400) == 0 {
				delete(waiting, id)
				index.Drop(id)
			}
		}
		began := time.Now()
		r := &invocation.Run{
			Request: &pb.RunRequest{Config: "c", Settings: settings, Now: now}, Index: index, Began: began,
			Deadline: began.Add(5 * time.Second), Session: session, Answer: func(*pb.RunPart) error { return nil },
		}
		last, err := inv.Invoke(t.Context(), r, invocationtest.Native{Function: f}, needs)
		if err != nil {
			t.Fatal(err)
		}
		answer := proto.CloneOf(last)
		if err := proposals.Unpack(answer); err != nil {
			t.Fatal(err)
		}
		if bytes = append(bytes, last.GetStats().GetBytes()); !session.Has(r.Key) {
			t.Fatalf("run %d kept nothing", step)
		}
		if err := inv.Check(t.Context(), r, invocationtest.Native{Function: f}, needs); err != nil {
			t.Fatalf("run %d: %v", step, err)
		}
		for _, p := range answer.GetProposals() {
			if matches++; random.IntN(4) == 0 {
				continue // another config was faster
			}
			for _, team := range p.GetTeams() {
				for _, id := range team.GetTickets() {
					delete(waiting, id)
					index.Drop(id)
				}
			}
		}
	}
	less := len(slices.DeleteFunc(slices.Clone(bytes), func(n int64) bool { return n > bytes[0]/4 }))
	if matches < 20 || less < 80 {
		t.Errorf("%d matches, %d runs of changes", matches, less)
	}
}
