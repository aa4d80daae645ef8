package lasthour

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/cycle"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// began is when the recordings of the tests began.
var began = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ticket is a ticket as the feed has it.
func ticketAt(t *testing.T, id string, at time.Duration, skill float64) []byte {
	t.Helper()
	body, err := proto.Marshal(&pb.Ticket{Id: id, Owner: "ada-" + id, Created: began.Add(at).UnixMilli(),
		AttributeNames: []string{"skill"}, AttributeValues: []float64{skill}, Trace: []byte("trace"),
		Players: []*pb.Player{{Id: "ada-" + id}, {Id: "bob-" + id}}, Properties: map[string][]byte{"role": []byte("1"), "recent": []byte(`["eve"]`)}})
	must(t, err)
	return body
}

// evening is a recording of n tickets within a time, of which each tenth leaves after 20 seconds.
func evening(t *testing.T, n int, within time.Duration) *Recorder {
	t.Helper()
	r := NewRecorder(new(Quota), began)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		id, at := fmt.Sprint(i), within*time.Duration(i)/time.Duration(n)
		r.Came(id, ticketAt(t, id, at, 1500+400*random.NormFloat64()))
		r.Gone(id, i%10 != 0, began.Add(at+20*time.Second))
	}
	return r
}

// instances starts instances of the function duel.
func instances(t *testing.T) func() map[string]*cycle.Function {
	t.Helper()
	dir := t.TempDir()
	child, err := sandboxtest.Build(dir)
	must(t, err)
	wasm, err := sandboxtest.Shipped(dir, "../../../functions", "duel")
	must(t, err)
	box, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "box"), Code: sandbox.UserCode(), Binary: child,
		Log: slog.New(slog.DiscardHandler), Limits: sandbox.Limits{Run: time.Minute, Start: time.Minute}})
	must(t, err)
	t.Cleanup(box.Close)
	m, _, err := box.Load(t.Context(), "", wasm)
	must(t, err)
	t.Cleanup(func() { box.Release(m) })
	return func() map[string]*cycle.Function {
		instance, err := box.Start(t.Context(), m, "test", func(string) {})
		must(t, err)
		t.Cleanup(instance.Close)
		return map[string]*cycle.Function{"duel": cycle.NewFunction(instance, &m.Manifest)}
	}
}

func duel(settings string) []*pb.Config {
	return []*pb.Config{{Id: "ranked", Function: "duel", Settings: []byte(settings)}}
}

// A narrower window gives longer waits and better matches, and nothing gives no difference.
func TestNarrowerWindow(t *testing.T) {
	start := instances(t)
	r := evening(t, 600, 20*time.Minute)
	var shares []float64
	rested := time.Duration(0)
	play := func(limit time.Duration, settings ...string) (*pb.Simulated, error) {
		o := Options{Now: began.Add(30 * time.Minute), Limit: limit,
			Progress: func(share float64) { shares = append(shares, share) },
			Rest: func(_ context.Context, took time.Duration) error {
				rested += took
				return nil
			}}
		for _, s := range settings {
			o.Sides = append(o.Sides, Side{duel(s), start()})
		}
		return r.Play(t.Context(), o)
	}
	wide, narrow := `{"attribute":"skill","window":200,"widen":5}`, `{"attribute":"skill","window":20,"widen":5}`
	got, err := play(time.Hour, wide, narrow, wide)
	must(t, err)
	first, second, again := got.GetSides()[0], got.GetSides()[1], got.GetSides()[2]
	if !proto.Equal(first, again) {
		t.Errorf("the same config twice: %v\nand %v", first, again)
	}
	spread := func(s *pb.SimulatedSide) (sum float64) {
		for _, d := range s.GetReport().GetSeries()[0].GetDistributions() {
			if d.GetKind() == "spread" && d.GetName() == "skill" {
				sum += d.GetSum()
			}
		}
		return sum / float64(s.GetMatches())
	}
	for _, s := range []*pb.SimulatedSide{first, second} {
		if s.GetTickets() != 600 || s.GetPlayers() != 1200 || s.GetMatched() != 2*s.GetMatches() ||
			len(s.GetWaits()) != Waits || s.GetMatched()+s.GetLeft()+s.GetWaiting()+s.GetFailed() != 600 || s.GetFailed() != 0 {
			t.Errorf("%v", s)
		}
	}
	if a, b := first.GetWaits()[Waits/2], second.GetWaits()[Waits/2]; b < 1.5*a {
		t.Errorf("half wait for %.2f s, and with a narrow window for %.2f s", a, b)
	}
	if a, b := spread(first), spread(second); b > 0.7*a || b == 0 {
		t.Errorf("the spread is %.1f, and with a narrow window %.1f", a, b)
	}
	if first.GetLeft() >= second.GetLeft() {
		t.Errorf("%d left, and with a narrow window %d", first.GetLeft(), second.GetLeft())
	}
	if got.GetRecordedSince() != began.UnixMilli() || got.GetPlayedUntil() != began.Add(30*time.Minute).UnixMilli() ||
		len(shares) != 1800 || shares[len(shares)-1] != 1 || rested <= 0 {
		t.Errorf("%d to %d, %d steps, rested %v", got.GetRecordedSince(), got.GetPlayedUntil(), len(shares), rested)
	}
	// Without time it says how far it came.
	if got, err = play(1, wide); err != nil || got.GetPlayedUntil() != began.Add(step).UnixMilli() {
		t.Errorf("%v %v", got, err)
	}
	if _, err = play(time.Hour, `{"attribute":7}`); err == nil || !strings.Contains(err.Error(), "configs.ranked") {
		t.Errorf("settings that the function refuses: %v", err)
	}
}

func TestNothingToPlay(t *testing.T) {
	r := evening(t, 1, time.Second)
	other := duel(`{}`)
	other[0].Queue = "other"
	got, err := r.Play(t.Context(), Options{Sides: []Side{{Configs: other}}, Now: began.Add(time.Minute)})
	if !errors.Is(err, ErrNothing) || got.GetRecordedSince() != began.UnixMilli() {
		t.Errorf("%v %v", got, err)
	}
}

// A player has tickets one after the other, and may wait longer in a simulation: no match has a player twice.
func TestPlayersDoNotMeetThemselves(t *testing.T) {
	start := instances(t)
	r := NewRecorder(new(Quota), began)
	come := func(id string, at time.Duration, skill float64, owner string, players ...string) {
		t.Helper()
		one := &pb.Ticket{Id: id, Owner: owner, Created: began.Add(at).UnixMilli(), AttributeNames: []string{"skill"},
			AttributeValues: []float64{skill}}
		for _, p := range players {
			one.Players = append(one.Players, &pb.Player{Id: p})
		}
		body, err := proto.Marshal(one)
		must(t, err)
		r.Came(id, body)
	}
	matches := func() int64 {
		t.Helper()
		got, err := r.Play(t.Context(), Options{Sides: []Side{{duel(`{"attribute":"skill","window":100}`), start()}},
			Now: began.Add(time.Minute), Limit: time.Hour, Progress: func(float64) {},
			Rest: func(context.Context, time.Duration) error { return nil }})
		must(t, err)
		return got.GetSides()[0].GetMatches()
	}
	come("first", time.Second, 1500, "ada")
	come("second", 2*time.Second, 1550, "party", "bob", "ada")
	if n := matches(); n != 0 {
		t.Errorf("%d matches of a player with herself", n)
	}
	come("third", 3*time.Second, 1500, "ann")
	if n := matches(); n != 1 {
		t.Errorf("%d matches with another player", n)
	}
	// The function may not look: its proposal is refused.
	waits := &side{waiting: map[string]*ticket{"a": {players: []string{"1"}}, "b": {players: []string{"2", "1"}},
		"c": {players: []string{"3"}}}}
	for with, claimable := range map[string]bool{"b": false, "c": true, "d": false} {
		c := &cycle.Candidate{Proposal: &pb.Proposal{Compare: true}, Tickets: []string{"a", with}}
		if waits.Claimable(c) != claimable {
			t.Errorf("with %s: it is claimable or not", with)
		}
	}
}

// What is kept names no player and no longer than an hour, and is bounded.
func TestRecorderForgets(t *testing.T) {
	q := new(Quota)
	r := NewRecorder(q, began)
	r.Came("early", ticketAt(t, "early", -time.Second, 1))
	r.Came("a", ticketAt(t, "a", time.Second, 1))
	if r.Gone("a", true, began.Add(2*time.Second)); r.list[0].left != 0 {
		t.Error("a match took it: it did not leave")
	}
	r.Came("a", ticketAt(t, "a", time.Second, 1)) // its match did not come about
	r.Gone("a", false, began.Add(9*time.Second))
	r.Gone("unknown", false, began)
	r.Came("broken", []byte{0xff})
	got := r.copy()
	if len(got.arrivals) != 1 || got.arrivals[0].left != began.Add(9*time.Second).UnixMilli() {
		t.Fatalf("%+v", got.arrivals)
	}
	// The numbers of players are letters and digits, and may have "ada" in them.
	if text := string(got.arrivals[0].body); strings.Contains(text, "ada-") || strings.Contains(text, "bob-") ||
		strings.Contains(text, "trace") || strings.Contains(text, `"eve"`) || !strings.Contains(text, "role") {
		t.Errorf("kept is %q", text)
	}
	kept := new(pb.Ticket)
	must(t, proto.Unmarshal(got.arrivals[0].body, kept))
	if p := kept.GetPlayers(); len(p) != 2 || p[0].GetId() != kept.GetOwner() || p[0].GetId() == p[1].GetId() ||
		kept.GetAttributeValues()[0] != 1 || len(kept.GetProperties()) != 1 {
		t.Errorf("kept is %v", kept)
	}
	r.Came("b", ticketAt(t, "b", time.Minute, 1))
	r.Trim(began.Add(time.Hour + 30*time.Second))
	if got = r.copy(); len(got.arrivals) != 1 || got.arrivals[0].id != "b" || len(r.numbers) != 1 ||
		got.since != began.Add(30*time.Second).UnixMilli() {
		t.Errorf("after an hour: %+v", got)
	}
	r.Gone("b", false, began.Add(2*time.Minute))
	if got = r.copy(); got.arrivals[0].left == 0 {
		t.Error("the ticket behind one that was dropped did not leave")
	}
	for range 999 { // other projects
		NewRecorder(q, began)
	}
	r.Trim(began.Add(time.Hour + 30*time.Second))
	for i := range 1000 {
		id := fmt.Sprint("c", i)
		r.Came(id, ticketAt(t, id, time.Hour+time.Duration(i)*time.Millisecond, 1))
	}
	if n := len(r.list); r.bytes > allBytes/1000 || n < 100 || n > 500 || len(r.numbers) != n ||
		r.since != r.list[0].created {
		t.Errorf("%d tickets, %d bytes, since %d", n, r.bytes, r.since)
	}
	r.Trim(began.Add(3 * time.Hour))
	if len(r.list) != 0 || len(r.numbers) != 0 || r.bytes != 0 {
		t.Errorf("%d tickets and %d bytes are left", len(r.list), r.bytes)
	}
	r.Came("d", ticketAt(t, "d", 4*time.Hour, 1))
	r.Restart(began.Add(5 * time.Hour)) // whether it waits is not known any more
	if got = r.copy(); len(got.arrivals) != 0 || got.since != began.Add(5*time.Hour).UnixMilli() || r.bytes != 0 {
		t.Errorf("after a restart: %+v", got)
	}
	r.Gone("d", false, began)
	if r.Came("e", ticketAt(t, "e", 5*time.Hour, 1)); len(r.list) != 1 || r.numbers["e"] != 0 {
		t.Errorf("after a restart: %v", r.numbers)
	}
}

// Whether a ticket is kept does not depend on where the time of its creation is in its body. Without one it is
// not kept.
func TestRecorderTakesFieldsInAnyOrder(t *testing.T) {
	r := NewRecorder(new(Quota), began)
	owner, err := proto.Marshal(&pb.Ticket{Owner: "ada"})
	must(t, err)
	r.Came("none", owner)
	for id, at := range map[string]time.Duration{"early": -time.Millisecond, "a": 0} {
		created, err := proto.Marshal(&pb.Ticket{Created: began.Add(at).UnixMilli()})
		must(t, err)
		r.Came(id+", created first", slices.Concat(created, owner))
		r.Came(id+", created last", slices.Concat(owner, created))
	}
	if got := slices.Sorted(maps.Keys(r.numbers)); !slices.Equal(got, []string{"a, created first", "a, created last"}) {
		t.Errorf("%q are kept", got)
	}
}

// A step that takes long is rested for, and ends the simulation if it takes far longer than the limit.
func TestSimulationsRestAsLongAsTheyWork(t *testing.T) {
	var rested []time.Duration
	w := work{Options: &Options{Limit: 10 * time.Second, Rest: func(_ context.Context, took time.Duration) error {
		rested = append(rested, took)
		return nil
	}}}
	for _, one := range []struct {
		took  time.Duration
		rests int
		fails bool
	}{{restAfter / 2, 0, false}, {restAfter, 1, false}, {19 * time.Second, 2, false}, {time.Second, 3, true}} {
		if err := w.add(t.Context(), one.took); (err != nil) != one.fails || len(rested) != one.rests {
			t.Errorf("after %v: %v, rested %v", one.took, err, rested)
		}
	}
	if rested[0] != restAfter+restAfter/2 {
		t.Errorf("rested %v", rested)
	}
}

// BenchmarkCame measures what a ticket of five players costs.
func BenchmarkCame(b *testing.B) {
	one := &pb.Ticket{Id: "0198f3a2-5c1e-7d40-9a10-0a4be0d0c001", Owner: "ada", AttributeNames: []string{"level", "skill"},
		AttributeValues: []float64{7, 1500}, Queues: []string{"ranked"}, Created: began.UnixMilli(),
		Properties: map[string][]byte{"latency": []byte(`{"eu":20,"us":90}`)}}
	for i := range 5 {
		one.Players = append(one.Players, &pb.Player{Id: fmt.Sprint("player-", i), AttributeNames: []string{"skill"},
			AttributeValues: []float64{1500}, Properties: map[string][]byte{"roles": []byte(`["tank"]`)}})
	}
	body, err := proto.Marshal(one)
	if err != nil {
		b.Fatal(err)
	}
	r := NewRecorder(new(Quota), began)
	b.ReportAllocs()
	for i := range b.N {
		r.Came(fmt.Sprint(i), body)
	}
}
