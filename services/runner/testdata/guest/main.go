// Command guest is a match function that does what the settings of its config say: one module can be good, slow and
// bad.
package main

import (
	"errors"
	"fmt"

	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.Register(match, matchfn.Attributes("skill"), matchfn.Properties("team"))

func main() {}

func match(r *matchfn.Run) error {
	s := r.Settings()
	fmt.Println("asked for", s.String("do", "pair"))
	switch s.String("do", "pair") {
	case "panic":
		panic("as told")
	case "hang":
		for { //nolint:staticcheck // on purpose
		}
	case "work": // for a while, and then like pair
		for range 100_000_000 {
			work = work*6364136223846793005 + 1
		}
		pair(r)
	case "flood": // of one pair of tickets
		for range 20_000 {
			r.Propose(1, 0, 1)
		}
	case "fail":
		return errors.New("as told")
	case "all":
		decorate(r)
	case "fill": // every backfill ticket gets a ticket of its own
		free := r.BackfillAttribute("skill")
		for b := range uint32(min(r.Backfills(), r.Tickets())) {
			r.Propose(1, b).UpdateBackfill(b).Attribute("skill", free[b]-1)
		}
	case "explain": // like pair, and then why tickets are in no match
		pair(r)
		for _, ticket := range r.Asked() {
			r.Explain(ticket, "as told", int(ticket))
		}
	case "chain": // every ticket but the ends is in two proposals, and the later one is better
		order := matchfn.SortBy(r.Attribute("skill"))
		for i := 0; i+1 < len(order); i++ {
			r.Propose(float64(i), order[i], order[i+1])
		}
	default:
		pair(r)
	}
	return nil
}

// work is a package variable, so that the compiler does not leave the computation out.
var work uint64

func pair(r *matchfn.Run) {
	order := matchfn.SortBy(r.Attribute("skill"))
	for i := 0; i+1 < len(order); i += 2 {
		r.Propose(1, order[i], order[i+1])
	}
}

// decorate proposes one match of all tickets with everything that a proposal can have.
func decorate(r *matchfn.Run) {
	var red, blue []uint32
	team := r.Property("team")
	for t := range uint32(r.Tickets()) {
		if value, ok := team.Of(t); ok && string(value) == "red" {
			red = append(red, t)
		} else {
			blue = append(blue, t)
		}
	}
	r.Propose(7).Team("red", red...).Team("blue", blue...).
		Connection("10.0.0.1:7777").
		AssignmentProperties([]byte(`{"a":1}`)).
		MatchProperties([]byte(`{"b":2}`)).
		TicketProperties(0, []byte(`{"c":3}`)).
		Region("eu").Fleet("fast").Profile("big")
}
