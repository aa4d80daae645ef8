package block_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// everything writes a request with every kind of section.
func everything(t *testing.T, b *block.RequestBuilder) []byte {
	t.Helper()
	return everythingIn(t, b, nil)
}

func everythingIn(t *testing.T, b *block.RequestBuilder, given []byte) []byte {
	t.Helper()
	b.StartIn(given, block.Meta{Now: 1_700_000_010_000, Seed: 1<<63 + 7, Budget: 5000, Tickets: 3, Backfills: 2})
	b.Config([]byte(`{"window":50}`))
	copy(b.Created(), []float64{1_700_000_000_000, 1_700_000_009_500, 1_700_000_011_000})
	copy(b.Numbers(block.KindAttribute, "level"), []float64{1, math.NaN(), 3})
	copy(b.Numbers(block.KindAttribute, "skill"), []float64{1200, -0.5, 1500})
	properties := [][]byte{[]byte("abc"), nil, {}}
	b.Values(block.KindProperty, "loadout", func(i int) ([]byte, bool) { return properties[i], i != 1 })
	copy(b.Members(block.KindPool, "healers", 1), []uint32{2})
	copy(b.Members(block.KindPool, "tanks", 2), []uint32{0, 1})
	copy(b.Numbers(block.KindBackfillCreated, ""), []float64{1_700_000_000_001, 1_700_000_000_002})
	copy(b.BackfillVersion(), []int64{1, 9_007_199_254_740_993})
	b.Values(block.KindBackfillConnection, "", func(i int) ([]byte, bool) { return []byte("10.0.0.1:7777"), i == 1 })
	copy(b.Numbers(block.KindBackfillAttribute, "missing"), []float64{2, 1})
	b.Values(block.KindBackfillProperty, "état", func(i int) ([]byte, bool) { return []byte{0, 255}, i == 0 })
	copy(b.Members(block.KindBackfillPool, "open", 2), []uint32{0, 1})
	out, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRequestsReadBackAsWritten(t *testing.T) {
	var b block.RequestBuilder
	for range 2 { // the second request uses the buffer of the first
		r, err := block.ParseRequest(everything(t, &b))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		if r.Tickets != 3 || r.Backfills != 2 || r.Now != 1_700_000_010_000 || r.Seed != 1<<63+7 || r.Budget != 5000 {
			t.Errorf("meta %+v", r.Meta)
		}
		if string(r.Config) != `{"window":50}` {
			t.Errorf("config %s", r.Config)
		}
		if !slices.Equal(r.Wait, []float64{10, 0.5, 0}) {
			t.Errorf("wait %v", r.Wait)
		}
		if got := slices.Collect(r.Names(block.KindAttribute)); !slices.Equal(got, []string{"level", "skill"}) {
			t.Errorf("attributes %q", got)
		}
		level, ok := r.Numbers(block.KindAttribute, "level")
		if !ok || level[0] != 1 || !math.IsNaN(level[1]) || level[2] != 3 {
			t.Errorf("level %v", level)
		}
		if _, ok := r.Numbers(block.KindAttribute, "missing"); ok {
			t.Error("an attribute of backfill tickets is one of tickets")
		}
		loadout, ok := r.Values(block.KindProperty, "loadout")
		if !ok || loadout.Len() != 3 {
			t.Fatalf("loadout has %d values", loadout.Len())
		}
		if v, ok := loadout.At(0); !ok || string(v) != "abc" {
			t.Errorf("loadout 0 is %q, %v", v, ok)
		}
		if _, ok := loadout.At(1); ok {
			t.Error("loadout 1 is present")
		}
		if v, ok := loadout.At(2); !ok || len(v) != 0 {
			t.Errorf("loadout 2 is %q, %v", v, ok)
		}
		if _, ok := loadout.At(3); ok {
			t.Error("loadout 3 is present")
		}
		if tanks, ok := r.Members(block.KindPool, "tanks"); !ok || !slices.Equal(tanks, []uint32{0, 1}) {
			t.Errorf("tanks %v", tanks)
		}
		if !slices.Equal(r.BackfillVersion, []int64{1, 9_007_199_254_740_993}) {
			t.Errorf("versions %v", r.BackfillVersion)
		}
		if _, ok := connectionOf(r, 0); ok {
			t.Error("backfill 0 is connected")
		}
		if c, ok := connectionOf(r, 1); !ok || string(c) != "10.0.0.1:7777" {
			t.Errorf("backfill 1 is at %q", c)
		}
		state, ok := r.Values(block.KindBackfillProperty, "état")
		if v, there := state.At(0); !ok || !there || !slices.Equal(v, []byte{0, 255}) {
			t.Errorf("état %v", v)
		}
	}
}

func TestRequestBuilderReportsWrongUse(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(b *block.RequestBuilder)
		want string
	}{
		"twice": {func(b *block.RequestBuilder) {
			b.Start(block.Meta{Tickets: 1})
			b.Numbers(block.KindAttribute, "a")[0] = 1
			b.Numbers(block.KindAttribute, "a")[0] = 1
		}, `block: section 5 "a" twice`},
		"too long": {func(b *block.RequestBuilder) {
			b.Start(block.Meta{Tickets: 1})
			b.Members(block.KindPool, "p", block.MaxRequest/4)[0] = 1
			b.Created()[0] = 1
			b.Values(block.KindProperty, "q", func(int) ([]byte, bool) { return nil, true })
		}, "block: a request of more than 1073741824 bytes"},
		"negative": {func(b *block.RequestBuilder) {
			b.Start(block.Meta{Tickets: -1})
		}, "block: -1 tickets, 0 backfill tickets"},
		"incomplete": {func(b *block.RequestBuilder) {
			b.Start(block.Meta{Backfills: 1})
		}, "block: 1 backfill tickets without section 8"},
		"not UTF-8": {func(b *block.RequestBuilder) {
			b.Start(block.Meta{})
			b.Numbers(block.KindAttribute, "\xff")
		}, `block: the name "\xff" is too long or not UTF-8`},
		"not started": {func(b *block.RequestBuilder) { b.Members(block.KindPool, "p", 1)[0] = 1 },
			"block: a section before Start"},
	} {
		t.Run(name, func(t *testing.T) {
			var b block.RequestBuilder
			c.do(&b)
			if _, err := b.Finish(); err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			// The next request is not affected.
			b.Start(block.Meta{})
			if _, err := b.Finish(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnswersReadBackAsWritten(t *testing.T) {
	var b block.AnswerBuilder
	var r block.AnswerReader
	for range 2 {
		b.Reset()
		b.Propose(1.5)
		b.Team(0, 1)
		p := b.Propose(-2)
		b.Team(4)
		b.Team()
		if team := b.Team(3, 2); team != 2 {
			t.Errorf("team %d", team)
		}
		b.Set(p, block.FieldTicketProperties, 4, "", []byte(`{"a":1}`))
		b.Set(p, block.FieldTicketProperties, 2, "", []byte(`{"b":2}`))
		b.Set(p, block.FieldRegion, 0, "", []byte("nowhere"))
		b.Set(p, block.FieldRegion, 0, "", []byte("eu"))
		b.Set(p, block.FieldTeamName, 2, "", []byte("red"))
		b.Set(p, block.FieldBackfillUpdate, 1, "", nil)
		b.SetNumber(p, block.FieldBackfillAttribute, 0, "missing", 1)
		b.Set(p, block.FieldBackfillProperty, 0, "state", []byte{0})
		b.Set(p, block.FieldBackfillRemove, 0, "old", nil)
		b.Set(0, block.FieldError, 0, "", []byte("PoolTimeout"))
		b.Propose(0)
		b.Team(5)
		a, err := r.Read(b.Finish(), 6, 2)
		if err != nil {
			t.Fatal(err)
		}
		if a.Len() != 3 || a.Score(0) != 1.5 || a.Score(1) != -2 {
			t.Errorf("%d proposals, scores %v %v", a.Len(), a.Score(0), a.Score(1))
		}
		if !slices.Equal(a.Tickets(0), []uint32{0, 1}) || !slices.Equal(a.Tickets(1), []uint32{4, 3, 2}) ||
			!slices.Equal(a.Tickets(2), []uint32{5}) {
			t.Errorf("tickets %v %v %v", a.Tickets(0), a.Tickets(1), a.Tickets(2))
		}
		if a.Teams(1) != 3 || len(a.Team(1, 1)) != 0 || !slices.Equal(a.Team(1, 2), []uint32{3, 2}) {
			t.Errorf("teams %v %v %v", a.Team(1, 0), a.Team(1, 1), a.Team(1, 2))
		}
		if e := a.Extras(0); e == nil || e.Error != "PoolTimeout" {
			t.Errorf("extras of 0: %+v", e)
		}
		if e := a.Extras(2); e != nil {
			t.Errorf("extras of 2: %+v", e)
		}
		e := a.Extras(1)
		if e.Region != "eu" || !slices.Equal(e.TeamNames, []string{"", "", "red"}) {
			t.Errorf("extras of 1: %+v", e)
		}
		if len(e.TicketProperties) != 2 || e.TicketProperties[0].Ticket != 2 ||
			string(e.TicketProperties[0].JSON) != `{"b":2}` {
			t.Errorf("ticket properties %+v", e.TicketProperties)
		}
		if f := e.Backfill; f.Create || f.Number != 1 ||
			f.Attributes[0] != (block.BackfillAttribute{Name: "missing", Value: 1}) ||
			f.Properties[0].Name != "state" ||
			!slices.Equal(f.Remove, []string{"old"}) {
			t.Errorf("backfill %+v", f)
		}
	}
	if a, err := r.Read(b.Fail("no such pool \xff"), 6, 2); err != nil || a.Failure != "no such pool \uFFFD" ||
		a.Len() != 0 {
		t.Errorf("failure %+v, %v", a, err)
	}
	b.Reset()
	if a, err := r.Read(b.Finish(), 0, 0); err != nil || a.Len() != 0 {
		t.Errorf("empty answer %+v, %v", a, err)
	}
}

// A column that the caller does not fill must not show data of another project's request.
func TestRequestBuilderClearsItsBuffer(t *testing.T) {
	var b block.RequestBuilder
	everything(t, &b)
	b.Start(block.Meta{Tickets: 5})
	if got := b.Created(); slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
		t.Errorf("created %v", got)
	}
	for _, name := range []string{"a", "b"} {
		if got := b.Numbers(block.KindAttribute, name); slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s %v", name, got)
		}
	}
	if got := b.Members(block.KindPool, "p", 9); slices.ContainsFunc(got, func(v uint32) bool { return v != 0 }) {
		t.Errorf("pool %v", got)
	}
}

// The bytes of the request are the same in a given buffer, whatever that contained, and in the builder's own buffer,
// which it uses if the given one is too short.
func TestRequestIsTheSameInAGivenBuffer(t *testing.T) {
	var b, other block.RequestBuilder
	want := slices.Clone(everything(t, &other))
	for _, size := range []int{0, 8, 24, len(want) - 8, len(want), len(want) + 8} {
		given := slices.Repeat([]byte{0xff}, size)
		got := everythingIn(t, &b, given)
		inPlace := size > 0 && &got[0] == &given[0]
		if !bytes.Equal(got, want) || inPlace != (size >= len(want)) {
			t.Errorf("in a buffer of %d bytes: in place %v, same %v, %d bytes long", size, inPlace, bytes.Equal(got, want),
				len(want))
		}
	}
}

// Columns are copied only if they are misaligned.
func TestColumnsAreViewsOfTheRequest(t *testing.T) {
	var b block.RequestBuilder
	request := everything(t, &b)
	shifted := append(make([]byte, 1, len(request)+1), request...)[1:]
	for name, in := range map[string][]byte{"in place": request, "shifted": shifted} {
		r, err := block.ParseRequest(in)
		if err != nil {
			t.Fatal(err)
		}
		if r.Created[0] != 1_700_000_000_000 {
			t.Errorf("%s: created %v", name, r.Created)
		}
		clear(in)
		if inPlace := r.Created[0] == 0; inPlace != (name == "in place") {
			t.Errorf("%s: created %v after the request was cleared", name, r.Created)
		}
	}
}

// The size of a request is known before it is written, to the byte, and properties may be filled in any order.
func TestSizeOfARequestIsKnownBefore(t *testing.T) {
	for n := range 4 {
		m := block.Meta{Tickets: n, Backfills: n / 2, LeftOutAttributes: n / 3, LeftOutProperties: 7 * (n / 3)}
		var s block.RequestSize
		s.Meta(m, 2)
		s.Column("skill", n, 0)
		s.Column("kit", n, 3*n)
		s.Column("none", n, 0)
		s.Numbers("all", n)
		if m.Backfills > 0 {
			s.Backfills(m.Backfills, 5)
			s.Column("open", m.Backfills, 0)
			s.Column("map", m.Backfills, 4)
			s.Numbers("games", m.Backfills)
		}
		var b block.RequestBuilder
		b.Reserve(int(s.Bytes()))
		b.Start(m)
		b.Config([]byte("{}"))
		copy(b.Numbers(block.KindAttribute, "skill"), make([]float64, n))
		columns := b.Columns(block.KindProperty, []string{"kit", "none"}, []int{3 * n, 0})
		for i := n - 1; i >= 0; i-- {
			if !columns[0].Set(i, fmt.Sprint("k", i, "x")) || columns[1].Set(i, "does not fit") || columns[0].Set(n, "") {
				t.Fatalf("value %d of %d", i, n)
			}
		}
		for i, all := 0, b.Members(block.KindPool, "all", n); i < n; i++ {
			all[i] = uint32(i)
		}
		if m.Backfills > 0 {
			copy(b.Numbers(block.KindBackfillCreated, ""), []float64{1})
			b.BackfillVersion()
			b.Values(block.KindBackfillConnection, "", func(int) ([]byte, bool) { return []byte("h:123"), true })
			copy(b.Numbers(block.KindBackfillAttribute, "open"), []float64{1})
			b.Columns(block.KindBackfillProperty, []string{"map"}, []int{4})[0].Set(0, "cave")
			b.Members(block.KindBackfillPool, "games", m.Backfills)[0] = 0
		}
		request, err := b.Finish()
		if err != nil || int64(len(request)) != s.Bytes() {
			t.Fatalf("%d tickets: %d bytes, computed were %d, %v", n, len(request), s.Bytes(), err)
		}
		r, err := block.ParseRequest(request)
		if err == nil {
			err = r.Check()
		}
		if err != nil || r.LeftOutAttributes != m.LeftOutAttributes || r.LeftOutProperties != m.LeftOutProperties {
			t.Fatalf("%+v, %v", r, err)
		}
		kit, _ := r.Values(block.KindProperty, "kit")
		none, _ := r.Values(block.KindProperty, "none")
		for i := range n {
			if v, ok := kit.At(i); !ok || string(v) != fmt.Sprint("k", i, "x") {
				t.Errorf("ticket %d has %q", i, v)
			}
			if _, ok := none.At(i); ok {
				t.Errorf("ticket %d has a value", i)
			}
		}
	}
}

// A builder that wrote a long request gives its memory back when the next one is short.
func TestLongBufferIsGivenBack(t *testing.T) {
	var b block.RequestBuilder
	for _, n := range []int{1 << 20, 100} {
		var s block.RequestSize
		s.Meta(block.Meta{Tickets: n}, 0)
		b.Reserve(int(s.Bytes()))
		b.Start(block.Meta{Tickets: n})
		request, err := b.Finish()
		if err != nil || n == 100 && cap(request) > 1<<20 {
			t.Errorf("%d bytes for %d tickets, %v", cap(request), n, err)
		}
	}
}
