package block_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// The order of calls does not matter, except that the last value of a field counts.
func TestPartsCanBeSetInAnyOrder(t *testing.T) {
	var b block.AnswerBuilder
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		b.Reset()
		n := 1 + r.IntN(5)
		for p := range n {
			b.Propose(0, uint32(p))
			b.Set(p, block.FieldBackfillCreate, 0, "", nil)
		}
		want := map[string]string{}
		for i := range r.IntN(40) {
			p, said := r.IntN(n), fmt.Sprint("said ", i)
			switch what := r.IntN(5); what {
			case 0:
				b.Set(p, block.FieldRegion, 0, "", []byte(said))
				want[fmt.Sprint(p, " region")] = said
			case 1:
				b.Set(p, block.FieldConnection, 0, "", []byte(said))
				want[fmt.Sprint(p, " connection")] = said
			default:
				name := fmt.Sprint("map", what)[:what] // "ma", "map", "map4"
				b.Set(p, block.FieldBackfillProperty, 0, name, []byte(said))
				want[fmt.Sprint(p, " ", name)] = said
			}
		}
		a, err := block.ParseAnswer(b.Finish(), n, 0)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := map[string]string{}
		for p := range n {
			e := a.Extras(p)
			if e.Region != "" {
				got[fmt.Sprint(p, " region")] = e.Region
			}
			if e.Connection != "" {
				got[fmt.Sprint(p, " connection")] = e.Connection
			}
			for _, property := range e.Backfill.Properties {
				got[fmt.Sprint(p, " ", property.Name)] = string(property.Value)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}
