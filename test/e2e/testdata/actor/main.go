// Actor is a match function that does what its config's settings tell it, good or bad.
//
// Its tickets have an attribute "number", which tells them apart in what it writes into the properties of their match.
package main

import (
	"fmt"
	"strconv"

	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.Register(match, matchfn.Attributes("number"), matchfn.Properties())

func main() {}

func match(r *matchfn.Run) error {
	settings := r.Settings()
	part := settings.String("part", "pair")
	work := settings.Int("work", 0)
	poison := settings.Float("poison", -1)
	a := actor{run: r, connection: settings.String("connection", ""), failure: settings.String("failure", "")}
	if err := settings.Err(); err != nil {
		return err
	}
	if r.Tickets() > 1 {
		toil(work)
	}
	for _, number := range r.Attribute("number") {
		if number == poison {
			panic("the actor met the ticket that it cannot take")
		}
	}
	switch part {
	case "pair":
		a.pair()
	case "every":
		a.every()
	case "fail":
		a.fail()
	case "twice":
		a.twice()
	case "spin":
		for {
		}
	case "panic":
		panic("the actor was told to panic")
	default:
		return fmt.Errorf("the actor does not know the part %q", part)
	}
	return nil
}

type actor struct {
	run                 *matchfn.Run
	connection, failure string
}

// pair proposes each ticket once, in the order of their creation.
func (a *actor) pair() {
	for i := 0; i+1 < a.run.Tickets(); i += 2 {
		a.propose(0, uint32(i), uint32(i+1))
	}
}

// toil takes a while: so many steps of some nanoseconds each.
func toil(steps int) {
	x := uint64(1)
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	if x == 0 { // which the compiler cannot know
		fmt.Println("done")
	}
}

// every proposes all pairs that there are, so that nearly all of them must lose.
func (a *actor) every() {
	n := uint32(a.run.Tickets())
	for i := range n {
		for k := i + 1; k < n; k++ {
			a.propose(a.run.Rand().Float64(), i, k)
		}
	}
}

// fail proposes no match.
func (a *actor) fail() {
	for i := range a.run.Tickets() {
		a.run.Propose(0, uint32(i)).Error(a.failure)
	}
}

// twice proposes to match a ticket with itself, which no honest function does.
func (a *actor) twice() {
	for i := range a.run.Tickets() {
		a.propose(0, uint32(i), uint32(i))
	}
}

// propose proposes a pair whose match properties name both, and whose ticket properties name the one.
func (a *actor) propose(score float64, i, k uint32) {
	number := a.run.Attribute("number")
	p := a.run.Propose(score, i, k).
		MatchProperties([]byte(fmt.Sprintf(`{"players":[%s,%s]}`, format(number[i]), format(number[k]))))
	for _, t := range []uint32{i, k} {
		p.TicketProperties(t, []byte(`{"you":`+format(number[t])+`}`))
	}
	if a.connection != "" {
		p.Connection(a.connection)
	}
}

func format(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
