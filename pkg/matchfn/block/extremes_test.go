package block_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// A name of the greatest length, with letters of one, two, three and four bytes, and values at the limits of their
// types.
var (
	longest = strings.Repeat("aé価🦊", 25) + "aé価"
	ends    = []float64{
		math.MaxFloat64,
		-math.MaxFloat64,
		math.SmallestNonzeroFloat64,
		math.Copysign(0, -1),
		math.NaN(),
		1<<53 - 1,
	}
	octets = func() (all []byte) {
		for i := range 256 {
			all = append(all, byte(i))
		}
		return all
	}()
)

const nested = `{"é🦊":` +
	`[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1.7976931348623157e308]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],` +
	`"\u0000\"\\":-0.0}`

// extremeRequest is at the limits of the format, and has values that careless readers get wrong.
func extremeRequest(t *testing.T) []byte {
	t.Helper()
	var b block.RequestBuilder
	b.Start(block.Meta{Now: math.MaxInt64, Seed: math.MaxUint64, Budget: math.MaxUint32, Tickets: len(ends), Backfills: 3})
	b.Config([]byte(nested))
	copy(b.Created(), []float64{0, 1, 4_102_444_800_000, 1<<53 - 1, 0.5, 9e15})
	copy(b.Numbers(block.KindAttribute, " "), ends)
	nobody := b.Numbers(block.KindAttribute, "nobody has it")
	for i := range nobody {
		nobody[i] = math.NaN()
	}
	copy(b.Numbers(block.KindAttribute, longest), ends)
	values := [][]byte{octets, {}, nil, {0}, []byte(longest), bytes.Repeat([]byte{255}, 1000)}
	b.Values(block.KindProperty, longest, func(i int) ([]byte, bool) { return values[i], i != 2 })
	b.Values(block.KindProperty, "nobody has it", func(int) ([]byte, bool) { return nil, false })
	copy(b.Members(block.KindPool, longest, len(ends)), []uint32{0, 1, 2, 3, 4, 5})
	b.Members(block.KindPool, "nobody is in it", 0)
	copy(b.Numbers(block.KindBackfillCreated, ""), []float64{0, 1, 4_102_444_800_000})
	copy(b.BackfillVersion(), []int64{math.MaxInt64, math.MinInt64, 0})
	b.Values(block.KindBackfillConnection, "",
		func(i int) ([]byte, bool) { return []byte([]string{"", longest, "[2001:db8::1]:65535"}[i]), i != 0 })
	copy(b.Numbers(block.KindBackfillAttribute, longest), ends)
	b.Values(block.KindBackfillProperty, longest, func(i int) ([]byte, bool) { return values[i], i != 2 })
	copy(b.Members(block.KindBackfillPool, longest, 1), []uint32{2})
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(request)
}

// extremeTickets is the number of tickets, and of backfill tickets, for extremeAnswer. Their numbers need more than two
// bytes.
const extremeTickets = 1<<16 + 2

// extremeAnswer is the same for an answer.
func extremeAnswer() []byte {
	var b block.AnswerBuilder
	everyone := make([]uint32, 300)
	for i := range everyone {
		everyone[i] = extremeTickets - 1 - uint32(i)
	}
	p := b.Propose(math.MaxFloat64)
	b.Team()
	b.Team(everyone...)
	b.Team()
	for team := range uint32(3) {
		b.Set(p, block.FieldTeamName, team, "", []byte(longest))
	}
	b.Set(p, block.FieldConnection, 0, "", []byte(longest))
	b.Set(p, block.FieldAssignmentProperties, 0, "", []byte(nested))
	b.Set(p, block.FieldMatchProperties, 0, "", []byte(nested))
	b.Set(p, block.FieldTicketProperties, extremeTickets-1, "", []byte(nested))
	b.Set(p, block.FieldTicketProperties, extremeTickets-300, "", []byte(`{}`))
	b.Set(p, block.FieldRegion, 0, "", []byte(longest))
	b.Set(p, block.FieldFleet, 0, "", []byte(longest))
	b.Set(p, block.FieldProfile, 0, "", []byte(longest))
	b.Set(p, block.FieldBackfillUpdate, extremeTickets-1, "", nil)
	b.SetNumber(p, block.FieldBackfillAttribute, 0, longest, math.MaxFloat64)
	b.SetNumber(p, block.FieldBackfillAttribute, 0, " ", -math.MaxFloat64)
	b.SetNumber(p, block.FieldBackfillAttribute, 0, "\x00", math.SmallestNonzeroFloat64)
	b.Set(p, block.FieldBackfillProperty, 0, longest, octets)
	b.Set(p, block.FieldBackfillProperty, 0, "created", []byte{0})
	b.Set(p, block.FieldBackfillRemove, 0, longest, nil)
	b.Set(p, block.FieldBackfillRemove, 0, "created", nil)
	p = b.Propose(-math.MaxFloat64, 0)
	b.Set(p, block.FieldError, 0, "", []byte(strings.Repeat("🦊", block.MaxError/4)))
	b.Propose(math.SmallestNonzeroFloat64, 0, extremeTickets-1)
	return slices.Clone(b.Finish())
}
