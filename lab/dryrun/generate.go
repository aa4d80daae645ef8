package dryrun

import (
	"fmt"
	"math"
	"strconv"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/population"
)

// Generator generates tickets.
type Generator struct {
	Count      int
	Attributes map[string]population.Distribution
	// Properties are the values that each of them may have, all equally likely.
	Properties map[string][][]byte
	// Players is how many players each ticket has: rounded, at least 1, at most MaxPlayers. Attributes and properties are
	// then drawn for each player, and a ticket's attributes are the means of its players'. The zero Distribution makes
	// tickets of their owners alone, without names.
	Players population.Distribution
	// Queues are the queues in which the tickets wait.
	Queues []string
	Wait   population.Distribution // in seconds; negative samples count as 0
	Seed   uint64
	Now    time.Time
}

// MaxPlayers is the most players of a ticket that a service may be set to take.
const MaxPlayers = 1000

// Tickets returns the tickets. The same Generator always returns the same ones.
func (g Generator) Tickets() []*pb.Ticket {
	draw := g.drawer()
	wait := g.Wait.Sampler(g.Seed, "wait")
	players := g.Players.Sampler(g.Seed, "players")
	tickets := make([]*pb.Ticket, g.Count)
	digits := len(strconv.Itoa(g.Count))
	for i := range tickets {
		t := &pb.Ticket{Id: fmt.Sprintf("t%0*d", digits, i+1), Created: createdAt(g.Now, max(0, wait())), Queues: g.Queues}
		if !g.Players.IsZero() {
			addPlayers(t, int(min(max(1, math.Round(players())), MaxPlayers)), draw)
		} else {
			values, properties := draw()
			setAttributes(t, values)
			t.Properties = properties
		}
		tickets[i] = t
	}
	return tickets
}

// drawer returns a function that draws the attributes and the properties of one player.
func (g Generator) drawer() func() (map[string]float64, map[string][]byte) {
	attributes := map[string]func() float64{}
	for name, d := range g.Attributes {
		attributes[name] = d.Sampler(g.Seed, "attribute "+name)
	}
	properties := map[string]func() []byte{}
	for name, values := range g.Properties {
		r := population.Stream(g.Seed, "property "+name)
		properties[name] = func() []byte { return values[r.IntN(len(values))] }
	}
	return func() (map[string]float64, map[string][]byte) {
		numbers, texts := map[string]float64{}, map[string][]byte{}
		for name, draw := range attributes {
			numbers[name] = draw()
		}
		for name, draw := range properties {
			texts[name] = draw()
		}
		return numbers, texts
	}
}

// addPlayers adds players to a ticket, and their means as its attributes.
func addPlayers(t *pb.Ticket, count int, draw func() (map[string]float64, map[string][]byte)) {
	means := map[string]float64{}
	for n := range count {
		values, properties := draw()
		one := new(pb.Ticket) // a player has attributes as a ticket has
		setAttributes(one, values)
		t.Players = append(t.Players, &pb.Player{
			Id: fmt.Sprintf("%s-%d", t.GetId(), n+1), AttributeNames: one.GetAttributeNames(),
			AttributeValues: one.GetAttributeValues(), Properties: properties,
		})
		for name, value := range values {
			means[name] += value / float64(count)
		}
	}
	setAttributes(t, means)
}
