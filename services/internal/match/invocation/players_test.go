package invocation

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/sandbox"
)

var update = flag.Bool("update", false, "rewrite testdata")

// recorder is an instance that keeps its last request.
type recorder struct {
	native
	request []byte
}

func (r *recorder) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	r.request = slices.Clone(request)
	return r.native.Run(ctx, request, budget)
}

// requestOf is the request of a run over an index, for a function of a manifest. Its budget is left out: it depends on
// the time.
func requestOf(t *testing.T, index *pool.Index, settings string, m sandbox.Manifest) []byte {
	t.Helper()
	i := &recorder{native: native{Function: matchfn.New(func(*matchfn.Run) error { return nil })}}
	_, err := new(Invoker).Invoke(t.Context(), &Run{
		Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 9000, Seed: 7, Settings: []byte(settings)},
		Index:   index, Began: time.Now(), Deadline: time.Now().Add(time.Hour),
	}, i, NeedsOf(m))
	if err != nil {
		t.Fatal(err)
	}
	const budget = 24 + 16 // after the header, in the meta section
	if len(i.request) > 0 {
		clear(i.request[budget : budget+4])
	}
	return i.request
}

// parties are tickets of one to three players. The owner of the first one is the only player.
func parties(i int) *pb.Ticket {
	one := &pb.Ticket{Id: fmt.Sprint("t", i), Owner: fmt.Sprint("owner", i), Created: int64(1000 + i),
		AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(100 * i)},
		Properties: map[string][]byte{"kit": []byte(fmt.Sprint("kit", i))}}
	for k := range i {
		one.Players = append(one.Players, &pb.Player{
			Id: fmt.Sprintf("p%d-%d", i, k), AttributeNames: []string{"role", "skill"},
			AttributeValues: []float64{float64(k), float64(10*i + k)},
			Properties:      map[string][]byte{"name": fmt.Append(nil, i, k)},
		})
	}
	return one
}

// A function that was built before there were players gets requests that are the same to the byte, whichever tickets
// have players. The file was written by the version before.
func TestRequestsOfOldFunctionsAreAsBefore(t *testing.T) {
	manifests := []sandbox.Manifest{
		{}, {Attributes: []string{}, Properties: []string{}},
		{Attributes: []string{"role", "skill"}, Properties: []string{"kit", "name"}},
		{AttributeSettings: []string{"by"}, Properties: []string{"kit"}},
	}
	var got strings.Builder
	for _, m := range manifests {
		for line := range slices.Chunk(requestOf(t, indexOf(t, 4, parties), `{"by":"skill"}`, m), 32) {
			got.WriteString(hex.EncodeToString(line) + "\n")
		}
		got.WriteString("\n")
	}
	file := filepath.Join("testdata", "requests-before-players.hex")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got.String() != string(want) {
		t.Errorf("%v\n%s", err, got.String())
	}
}

// seen is what a function sees of a player.
type seen struct {
	Ticket, ID, Name string
	Role, Skill      float64
}

// readsPlayers returns a function that notes all players, and the handles that it saw of each.
func readsPlayers(t *testing.T, saw *[]seen, handles map[string]uint64) *matchfn.Function {
	return matchfn.New(func(r *matchfn.Run) error {
		*saw = nil
		players := r.Players()
		role, skill, name := players.Attribute("role"), players.Attribute("skill"), players.Property("name")
		unique := map[uint64]bool{}
		for ticket := range uint32(r.Tickets()) {
			first, end := players.Of(ticket)
			for p := first; p < end; p++ {
				id, _ := r.Property("id").Of(ticket)
				value, _ := name.Of(p)
				one := seen{Ticket: string(id), ID: players.ID(p), Name: string(value), Role: role[p], Skill: skill[p]}
				*saw = append(*saw, one)
				h := players.Handles()[p]
				if known, ok := handles[one.ID]; unique[h] || ok && known != h {
					t.Errorf("player %s has the handle %d, before %d", one.ID, h, known)
				}
				unique[h], handles[one.ID] = true, h
			}
		}
		if len(*saw) != players.Len() {
			t.Errorf("%d players, the tickets have %d", players.Len(), len(*saw))
		}
		return nil
	}, matchfn.Properties("id"), matchfn.Attributes(), matchfn.Players("role", "skill"),
		matchfn.PlayerProperties("name"), matchfn.PlayerHandles(), matchfn.PlayerIDs())
}

// manifestOf is the manifest of a function as the sandbox reads it.
func manifestOf(t *testing.T, f *matchfn.Function) sandbox.Manifest {
	t.Helper()
	m, err := block.ParseManifest(f.Manifest().JSON())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Functions see the players of the tickets that wait, with what each has, and the same player has the same handle while
// a crowd comes and goes.
func TestFunctionsSeePlayers(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 3))
		index, tickets := pool.New(), map[string]*pb.Ticket{}
		if !index.KeepOwners() || index.KeepOwners() {
			t.Fatal("KeepOwners changes the index once")
		}
		var saw []seen
		handles := map[string]uint64{}
		f := readsPlayers(t, &saw, handles)
		var inv Invoker
		for step := range 300 {
			id := fmt.Sprint("t", random.IntN(60))
			index.Drop(id)
			delete(tickets, id)
			if random.IntN(3) > 0 {
				one := &pb.Ticket{Id: id, Owner: "owner of " + id, Created: int64(1000 + step),
					Properties: map[string][]byte{"id": []byte(id)}}
				for k := range max(0, random.IntN(6)-2) {
					p := &pb.Player{Id: fmt.Sprint(id, "/", k)}
					if random.IntN(3) > 0 {
						p.AttributeNames, p.AttributeValues = []string{"role", "unread"}, []float64{random.Float64(), 1}
					}
					if random.IntN(3) > 0 {
						p.AttributeNames, p.AttributeValues = append(p.AttributeNames, "skill"), append(p.AttributeValues, 5)
						p.Properties = map[string][]byte{"name": []byte("name of " + p.Id), "other": {1}}
					}
					one.Players = append(one.Players, p)
				}
				raw, err := proto.Marshal(one)
				if err != nil {
					t.Fatal(err)
				}
				if err := index.Put(id, raw); err != nil {
					t.Fatal(err)
				}
				tickets[id] = one
			}
			if step%7 > 0 || len(tickets) == 0 {
				continue
			}
			r := &Run{Request: &pb.RunRequest{Now: 9000}, Index: index, Began: time.Now(), Deadline: time.Now().Add(time.Hour)}
			if _, err := inv.Invoke(t.Context(), r, native{Function: f}, NeedsOf(manifestOf(t, f))); err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprint(saw), fmt.Sprint(playersOf(tickets)); got != want {
				t.Fatalf("seed %d, step %d: the function saw\n%s, want\n%s", seed, step, got, want)
			}
		}
	}
}

// playersOf is what a function should see, the oldest ticket first.
func playersOf(tickets map[string]*pb.Ticket) (all []seen) {
	byAge := make([]*pb.Ticket, 0, len(tickets))
	for _, one := range tickets {
		byAge = append(byAge, one)
	}
	slices.SortFunc(byAge, func(a, b *pb.Ticket) int { return int(a.GetCreated() - b.GetCreated()) })
	for _, one := range byAge {
		if len(one.GetPlayers()) == 0 {
			all = append(all, seen{Ticket: one.GetId(), ID: one.GetOwner(), Role: math.NaN(), Skill: math.NaN()})
		}
		for _, p := range one.GetPlayers() {
			s := seen{Ticket: one.GetId(), ID: p.GetId(), Name: string(p.GetProperties()["name"]), Role: math.NaN(),
				Skill: math.NaN()}
			for i, name := range p.GetAttributeNames() {
				switch name {
				case "role":
					s.Role = p.GetAttributeValues()[i]
				case "skill":
					s.Skill = p.GetAttributeValues()[i]
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// A function that counts players gets the same bytes as one that does not, while every ticket has one player.
func TestPlainTicketsPayNothingForPlayers(t *testing.T) {
	plain := indexOf(t, 5, func(i int) *pb.Ticket { return &pb.Ticket{Id: fmt.Sprint("t", i), Owner: fmt.Sprint(i)} })
	without := requestOf(t, plain, "", sandbox.Manifest{Attributes: []string{"a"}, Properties: []string{}})
	with := requestOf(t, plain, "", sandbox.Manifest{Attributes: []string{"a"}, Properties: []string{},
		Players: &block.PlayerManifest{Attributes: []string{"role"}, Properties: []string{"x"}}})
	if len(with) == 0 || !bytes.Equal(without, with) {
		t.Errorf("%d and %d bytes", len(without), len(with))
	}
}

// The columns of players count before a request is written: columns × players × 8.
func TestRequestOfTooManyPlayersIsRefusedBeforeItIsWritten(t *testing.T) {
	index := indexOf(t, 100, func(i int) *pb.Ticket {
		one := &pb.Ticket{Id: fmt.Sprint("t", i), Created: int64(i)}
		for k := range 10 {
			one.Players = append(one.Players, &pb.Player{Id: fmt.Sprint(i, "/", k)})
		}
		return one
	})
	var names []string
	for i := range 256 {
		names = append(names, fmt.Sprint("a", i))
	}
	for what, c := range map[string]struct {
		players  block.PlayerManifest
		settings string
		want     string
	}{
		"attributes": {block.PlayerManifest{Attributes: names}, "",
			"the request would have 2 MiB: 256 columns × 100 tickets with 1000 players; it may have 0 MiB, since the " +
				"function may use 1: declare fewer attributes or properties, or narrow the pools"},
		"properties": {block.PlayerManifest{Properties: names}, "", "256 columns × 100 tickets with 1000 players"},
		"more than may be named": {block.PlayerManifest{Attributes: names, AttributeSettings: []string{"by"}}, `{"by":"b"}`,
			"the function declares 257 attributes of players together with those that its settings name, at most 256"},
		"more properties": {block.PlayerManifest{Properties: names, PropertySettings: []string{"by"}}, `{"by":"b"}`,
			"the function declares 257 properties of players together with those that its settings name, at most 256"},
	} {
		t.Run(what, func(t *testing.T) {
			ran := matchfn.New(func(*matchfn.Run) error { t.Error("the function ran"); return nil })
			sent := 0
			r := request(index, &sent)
			r.Request.Settings = []byte(c.settings)
			needs := NeedsOf(sandbox.Manifest{Attributes: []string{}, Properties: []string{}, Players: &c.players})
			_, err := new(Invoker).Invoke(t.Context(), r, small{native{Function: ran}}, needs)
			mustSay(t, err, c.want)
		})
	}
}
