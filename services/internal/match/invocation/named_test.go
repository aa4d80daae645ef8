package invocation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
)

// counter is an instance that counts how often its function is asked for columns.
type counter struct {
	native
	asked int
}

func (c *counter) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	in, err := block.ParseRequest(request)
	if err == nil {
		err = in.Check()
	}
	if err == nil && in.Naming {
		c.asked++
	}
	if err != nil {
		return nil, sandbox.Stats{}, err
	}
	return c.native.Run(ctx, request, budget)
}

func invokeWith(t *testing.T, i Instance, n Needs, settings string, check bool) (*pb.RunPart, error) {
	t.Helper()
	return new(Invoker).Invoke(t.Context(), &Run{
		Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 9000, Settings: []byte(settings), Check: check},
		Index:   indexOf(t, 4, parties), Began: time.Now(), Deadline: time.Now().Add(time.Hour),
	}, i, n)
}

// What a function names for the settings travels beside what its manifest names, from its first run on. It is asked
// once for each settings.
func TestColumnsThatTheFunctionNamesTravel(t *testing.T) {
	runs := 0
	f := matchfn.New(func(r *matchfn.Run) error {
		runs++
		p := r.Players()
		name, _ := p.Property("name").Of(1)
		kit, _ := r.Property("kit").Of(1)
		if s := string(name); s != "1 0" || string(kit) != "kit1" || r.Attribute("skill")[1] != 100 ||
			p.Attribute("role")[3] != 1 || p.Attribute("skill")[1] != 10 || p.ID(1) != "p1-0" {
			t.Errorf("got %q, %q, %v, %v, %q", name, kit, r.Attribute("skill"), p.Attribute("role"), p.ID(1))
		}
		return nil
	}, matchfn.Attributes(), matchfn.Properties(), matchfn.Players("skill"), matchfn.PlayerIDsWith("never"),
		matchfn.ColumnsOf(func([]byte) (matchfn.Columns, error) {
			return matchfn.Columns{Attributes: []string{"skill"}, Properties: []string{"kit"},
				PlayerAttributes: []string{"role"}, PlayerProperties: []string{"name"}, PlayerIDs: true}, nil
		}))
	i, n := &counter{native: native{Function: f}}, NeedsOf(manifestOf(t, f))
	for _, settings := range []string{`{"a":1}`, `{"a":1}`, `{"a":2}`, `{"a":1}`, ``} {
		if _, err := invokeWith(t, i, n, settings, false); err != nil {
			t.Fatal(err)
		}
	}
	if i.asked != 3 || runs != 5 {
		t.Errorf("it was asked %d times for %d runs", i.asked, runs)
	}
}

// A function that does not say so is not asked. One whose manifest does not say that it may read ids gets none.
func TestColumnsAreAskedOfWhoNamesSome(t *testing.T) {
	plain := matchfn.New(func(*matchfn.Run) error { return nil }, matchfn.Attributes("skill"))
	i := &counter{native: native{Function: plain}}
	if _, err := invokeWith(t, i, NeedsOf(manifestOf(t, plain)), `{}`, false); err != nil || i.asked > 0 {
		t.Errorf("it was asked %d times: %v", i.asked, err)
	}
	curious := matchfn.New(func(*matchfn.Run) error { return nil }, matchfn.Attributes(), matchfn.Players(),
		matchfn.ColumnsOf(func([]byte) (matchfn.Columns, error) { return matchfn.Columns{PlayerIDs: true}, nil }))
	n := NeedsOf(manifestOf(t, curious))
	r := &recorder{native: native{Function: curious}}
	if _, err := invokeWith(t, r, n, `{}`, false); err != nil {
		t.Fatal(err)
	}
	in, err := block.ParseRequest(r.request)
	if err != nil {
		t.Fatal(err)
	}
	if _, has := in.Values(block.KindPlayerID, ""); has || in.Naming {
		t.Errorf("ids: %t, naming: %t", has, in.Naming)
	}
}

// An error of the settings fails the run and its check with the function's words, and is asked for again.
func TestSettingsWithoutColumnsFailTheRun(t *testing.T) {
	const words = `settings: "x" is wrong`
	f := matchfn.New(func(*matchfn.Run) error { t.Error("the function ran"); return nil }, matchfn.Attributes(),
		matchfn.ColumnsOf(func([]byte) (matchfn.Columns, error) { return matchfn.Columns{}, errors.New(words) }))
	i, n := &counter{native: native{Function: f}}, NeedsOf(manifestOf(t, f))
	for _, check := range []bool{true, false} {
		last, err := invokeWith(t, i, n, `{"x":1}`, check)
		if _, mild := errors.AsType[FunctionError](err); !mild || last.GetError() != words {
			t.Errorf("check %t: %v, %q", check, err, last.GetError())
		}
	}
	if i.asked != 2 {
		t.Errorf("it was asked %d times", i.asked)
	}
	// It is known which tickets the failed run is about, so that it can be repeated on another upload. Without tickets
	// there was nothing to do.
	for tickets, fails := range map[int]bool{4: true, 0: false} {
		r := &Run{
			Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Now: 9000, Settings: []byte(`{"x":1}`)},
			Index:   indexOf(t, tickets, parties), Began: time.Now(), Deadline: time.Now().Add(time.Hour), Watch: &Watch{},
		}
		_, err := new(Invoker).Invoke(t.Context(), r, i, n)
		if (err != nil) != fails || r.Watch.Ran != fails || len(r.Watch.Tickets(10)) != tickets {
			t.Errorf("%d tickets: %v, %+v", tickets, err, r.Watch)
		}
	}
}

// answers is an instance that answers every request with the same columns, as they are.
type answers struct {
	native
	columns matchfn.Columns
}

func (a answers) Run(context.Context, []byte, time.Duration) ([]byte, sandbox.Stats, error) {
	var b block.AnswerBuilder
	b.Columns(a.columns)
	return b.Finish(), sandbox.Stats{}, nil
}

// A function that names too much fails its runs, and what it names is kept in limits.
func TestColumnsHaveLimits(t *testing.T) {
	many := make([]string, block.MaxNames)
	for i := range many {
		many[i] = fmt.Sprint("a", i)
	}
	m := sandbox.Manifest{Attributes: []string{"own"}, Properties: []string{"own"}, Columns: true,
		Players: &block.PlayerManifest{Attributes: []string{"own"}, Properties: []string{"own"}}}
	long := []string{strings.Repeat("x", block.MaxText+1)}
	for name, c := range map[string]struct {
		columns matchfn.Columns
		want    string
	}{
		"attributes":            {matchfn.Columns{Attributes: many}, "the function declares 257 attributes together with"},
		"properties":            {matchfn.Columns{Properties: many}, "the function declares 257 properties together with"},
		"attributes of players": {matchfn.Columns{PlayerAttributes: many}, "the function declares 257 attributes of players"},
		"properties of players": {matchfn.Columns{PlayerProperties: many}, "the function declares 257 properties of players"},
		"a long list":           {matchfn.Columns{Attributes: append(many, "b")}, "attributes has 257 names, at most 256"},
		"a long name":           {matchfn.Columns{PlayerProperties: long}, "has 257 bytes, at most 256 are allowed"},
		"no name":               {matchfn.Columns{Properties: []string{""}}, "properties[0] is empty"},
		"many bytes": {matchfn.Columns{Properties: []string{strings.Repeat("x", block.MaxColumns)}},
			"bytes are more than 262144"},
	} {
		_, err := invokeWith(t, answers{columns: c.columns}, NeedsOf(m), `{}`, true)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	n := NeedsOf(m).named
	for i := range 3000 {
		n.keep(fmt.Appendf(nil, `{"n":%d}`, i), matchfn.Columns{Attributes: many})
		if n.bytes > maxNamed || len(n.of) > maxNamed/(16*block.MaxNames) {
			t.Fatalf("%d bytes of %d settings are kept", n.bytes, len(n.of))
		}
	}
	if len(n.of) == 0 {
		t.Error("nothing is kept")
	}
}
