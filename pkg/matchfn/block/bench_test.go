package block_test

import (
	"fmt"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

// encode writes a request with 4 attributes and one pool. It gathers n tickets from columns, as a runner does.
func encode(b *block.RequestBuilder, column []float64, slots []uint32) ([]byte, error) {
	b.Start(block.Meta{Now: 1_900_000_000_000, Tickets: len(slots)})
	gather := func(to []float64) {
		for i, slot := range slots {
			to[i] = column[slot]
		}
	}
	gather(b.Created())
	for _, name := range [...]string{"level", "ping", "region", "skill"} {
		gather(b.Numbers(block.KindAttribute, name))
	}
	pool := b.Members(block.KindPool, "all", len(slots))
	for i := range pool {
		pool[i] = uint32(i)
	}
	return b.Finish()
}

// scattered returns a column and n of its slots. Two of three slots are in order.
func scattered(n int) (column []float64, slots []uint32) {
	for i := range n + n/2 {
		column = append(column, float64(i))
		if i%3 != 0 && len(slots) < n {
			slots = append(slots, uint32(i))
		}
	}
	return column, slots
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			column, slots := scattered(n)
			var builder block.RequestBuilder
			b.ReportAllocs()
			for b.Loop() {
				request, err := encode(&builder, column, slots)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(request)))
			}
		})
	}
}

func BenchmarkParseRequest(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			column, slots := scattered(n)
			request, err := encode(new(block.RequestBuilder), column, slots)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := block.ParseRequest(request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// propose pairs n tickets, with or without match properties.
func propose(b *block.AnswerBuilder, n int, properties []byte) []byte {
	b.Reset()
	for i := uint32(0); i+1 < uint32(n); i += 2 {
		p := b.Propose(float64(i))
		b.Team(i, i+1)
		if properties != nil {
			b.Set(p, block.FieldMatchProperties, 0, "", properties)
		}
	}
	return b.Finish()
}

func BenchmarkAnswer(b *testing.B) {
	for name, properties := range map[string][]byte{"pairs": nil, "properties": []byte(`{"map":"cave"}`)} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("build/%s/%d", name, n), func(b *testing.B) {
				var builder block.AnswerBuilder
				b.ReportAllocs()
				for b.Loop() {
					propose(&builder, n, properties)
				}
			})
			b.Run(fmt.Sprintf("read/%s/%d", name, n), func(b *testing.B) {
				answer := propose(new(block.AnswerBuilder), n, properties)
				var reader block.AnswerReader
				b.ReportAllocs()
				for b.Loop() {
					if _, err := reader.Read(answer, n, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The number of allocations for a request and an answer does not depend on the number of tickets.
func TestTicketsNeedNoAllocations(t *testing.T) {
	column, slots := scattered(10_000)
	var builder block.RequestBuilder
	var reader block.AnswerReader
	var answers block.AnswerBuilder
	if n := testing.AllocsPerRun(10, func() {
		request, err := encode(&builder, column, slots)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := block.ParseRequest(request); err != nil {
			t.Fatal(err)
		}
		if _, err := reader.Read(propose(&answers, len(slots), nil), len(slots), 0); err != nil {
			t.Fatal(err)
		}
	}); n > 20 {
		t.Errorf("%v allocations for %d tickets", n, len(slots))
	}
}
