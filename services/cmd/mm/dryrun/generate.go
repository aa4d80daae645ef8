package dryrun

import (
	"fmt"
	"strconv"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/population"
)

// Generator generates tickets.
type Generator struct {
	Count      int
	Attributes map[string]population.Distribution
	Wait       population.Distribution // in seconds; negative samples count as 0
	Seed       uint64
	Now        time.Time
}

// Tickets returns the tickets. The same Generator always returns the same ones.
func (g Generator) Tickets() []*pb.Ticket {
	draws := map[string]func() float64{}
	for name, d := range g.Attributes {
		draws[name] = d.Sampler(g.Seed, "attribute "+name)
	}
	wait := g.Wait.Sampler(g.Seed, "wait")
	tickets := make([]*pb.Ticket, g.Count)
	digits := len(strconv.Itoa(g.Count))
	for i := range tickets {
		t := &pb.Ticket{Id: fmt.Sprintf("t%0*d", digits, i+1), Created: createdAt(g.Now, max(0, wait()))}
		values := map[string]float64{}
		for name, draw := range draws {
			values[name] = draw()
		}
		setAttributes(t, values)
		tickets[i] = t
	}
	return tickets
}
