package block_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// vectorsOf returns the vectors whose names begin with prefix, as seeds.
func vectorsOf(f *testing.F, prefix string) []vector {
	f.Helper()
	var found []vector
	for _, v := range vectors(&testing.T{}) {
		if strings.HasPrefix(v.name, prefix) {
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		f.Fatal("no seeds")
	}
	return found
}

// FuzzAnswer reads any bytes. Nothing panics. An accepted answer keeps all promises of Answer, and is refused for a
// request with fewer tickets.
func FuzzAnswer(f *testing.F) {
	for _, v := range vectorsOf(f, "answer") {
		f.Add(v.block, uint16(v.tickets), uint16(v.backfills))
	}
	var reader block.AnswerReader
	f.Fuzz(func(t *testing.T, b []byte, tickets, backfills uint16) {
		before := slices.Clone(b)
		a, err := reader.Read(b, int(tickets), int(backfills))
		if !bytes.Equal(b, before) {
			t.Fatal("the answer was changed")
		}
		// The same bytes, where columns cannot be used in place.
		shifted := append(make([]byte, 1, len(b)+1), b...)[1:]
		if _, err2 := block.ParseAnswer(shifted, int(tickets), int(backfills)); (err == nil) != (err2 == nil) {
			t.Fatalf("%v, but %v when shifted", err, err2)
		}
		if err != nil {
			return
		}
		greatest := -1
		for p := range a.Len() {
			all := a.Tickets(p)
			var joined []uint32
			for team := range a.Teams(p) {
				joined = append(joined, a.Team(p, team)...)
			}
			if len(all) == 0 || !slices.Equal(all, joined) {
				t.Fatalf("proposal %d: tickets %v, teams %v", p, all, joined)
			}
			seen := map[uint32]bool{}
			for _, n := range all {
				if n >= uint32(tickets) || seen[n] {
					t.Fatalf("proposal %d: tickets %v of %d", p, all, tickets)
				}
				seen[n] = true
				greatest = max(greatest, int(n))
			}
			if e := a.Extras(p); e != nil {
				if e.TeamNames != nil && len(e.TeamNames) != a.Teams(p) {
					t.Fatalf("proposal %d: %d teams, names %q", p, a.Teams(p), e.TeamNames)
				}
				if e.Backfill != nil && !e.Backfill.Create && e.Backfill.Number >= uint32(backfills) {
					t.Fatalf("proposal %d: backfill %d of %d", p, e.Backfill.Number, backfills)
				}
			}
		}
		if greatest >= 0 {
			if _, err := block.ParseAnswer(b, greatest, int(backfills)); err == nil {
				t.Fatalf("accepted ticket %d of %d", greatest, greatest)
			}
		}
	})
}

// FuzzRequest parses any bytes and uses the whole request. Nothing panics.
func FuzzRequest(f *testing.F) {
	for _, v := range vectorsOf(f, "request") {
		f.Add(v.block)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := block.ParseRequest(b)
		if err != nil {
			return
		}
		if len(r.Created) != r.Tickets || len(r.Wait) != r.Tickets || len(r.BackfillVersion) != r.Backfills {
			t.Fatalf("columns of other lengths than %d and %d", r.Tickets, r.Backfills)
		}
		_ = r.Check()
		for name := range r.Names(block.KindAttribute) {
			if values, ok := r.Numbers(block.KindAttribute, name); !ok || len(values) != r.Tickets {
				t.Fatalf("attribute %q has %d values", name, len(values))
			}
		}
		describeRequest(b)
		for name := range r.Names(block.KindProperty) {
			values, _ := r.Values(block.KindProperty, name)
			for i := -1; i <= values.Len(); i++ {
				values.At(i)
			}
		}
	})
}

// FuzzManifest reads any bytes. An accepted manifest stays the same when it is written and read.
func FuzzManifest(f *testing.F) {
	for _, text := range manifests {
		f.Add([]byte(text.json))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := block.ParseManifest(b)
		if err != nil {
			return
		}
		if again, err := block.ParseManifest(m.JSON()); err != nil || !bytes.Equal(again.JSON(), m.JSON()) {
			t.Fatalf("%+v, then %+v, %v", m, again, err)
		}
	})
}

// FuzzNamesInSettings: whatever a setting names is among the strings of the settings.
func FuzzNamesInSettings(f *testing.F) {
	f.Add([]byte(`{"attribute":"skill","teams":{"by":["a","b"]}}`), "teams.by", 10)
	f.Add([]byte(`{"a":[["b"],{"c":"d"}],"a":"e"}`), "a.1.c", 2)
	f.Fuzz(func(t *testing.T, text []byte, path string, limit int) {
		settings := parsed(string(text))
		if all := block.Strings(settings, limit); len(all) > max(limit, 0) {
			t.Fatalf("%d strings, at most %d", len(all), limit)
		}
		all := block.Strings(settings, len(text))
		for _, name := range block.Named(settings, []string{path}) {
			if name != "" && len(name) <= block.MaxText && !slices.Contains(all, name) {
				t.Fatalf("%q is not among %q", name, all)
			}
		}
	})
}
