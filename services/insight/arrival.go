package insight

import (
	"context"
	"encoding/base64"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/response"
)

const (
	// arrivalStep is how many tickets are read at a time, and arrivalBytes how many bytes of them, with their properties;
	// those beyond that are left out. maxArrivals is how many bytes of attributes the events of a
	// message are answered with, about: half of what a client takes as one event.
	arrivalStep  = 256
	arrivalBytes = 4 << 20
	maxArrivals  = 512 << 10
	// arrivalCost is what it costs to read a ticket, Redis included.
	arrivalCost = 20 * time.Microsecond
)

// arrivals are the tickets of created events, by their ids. Those that are gone already are missing.
type arrivals map[string]*response.Arrival

// arrivals reads the tickets that events of a message created.
func (r *reading) arrivals(ctx context.Context, q *query, m bus.EventMessage) (arrivals, error) {
	if !q.arrivals {
		return nil, nil
	}
	var ids []string
	for i, e := range m.GetEvents() {
		if e.GetKind() == pb.Event_KIND_CREATED && i >= q.at.eventsOf(m.Sequence) && q.selects(e) {
			ids = append(ids, e.GetTickets()...)
		}
	}
	all, size := make(arrivals, len(ids)), 0
	for first := 0; first < len(ids) && size < maxArrivals; first += arrivalStep {
		some := ids[first:min(first+arrivalStep, len(ids))]
		bodies, err := r.Store.Bodies(ctx, r.project, some, arrivalBytes)
		if err != nil {
			return nil, err
		}
		r.owed += arrivalCost * time.Duration(len(some))
		for _, id := range some {
			if body := bodies[id]; body != nil && size < maxArrivals {
				one, n := newArrival(body, q.properties)
				all[id] = one
				size += n
			}
		}
	}
	return all, nil
}

// newArrival is what is told of a ticket, and about how many bytes that is.
func newArrival(t *pb.Ticket, properties bool) (a *response.Arrival, size int) {
	attributes := func(names []string, values []float64) map[string]float64 {
		for _, name := range names {
			size += len(name) + 28 // quotes, and the longest number
		}
		return fields.Attributes(names, values)
	}
	a = &response.Arrival{Attributes: attributes(t.GetAttributeNames(), t.GetAttributeValues()), Queues: t.GetQueues()}
	for _, queue := range a.Queues {
		size += len(queue)
	}
	for _, p := range t.GetPlayers() {
		one := response.Player{ID: p.GetId()}
		if len(p.GetAttributeNames()) > 0 {
			one.Attributes = attributes(p.GetAttributeNames(), p.GetAttributeValues())
		}
		a.Players = append(a.Players, one)
		size += len(one.ID) + 16
	}
	if len(a.Players) == 0 {
		a.Players = []response.Player{{ID: t.GetOwner()}}
		size += len(t.GetOwner()) + 16
	}
	if properties {
		size += addProperties(a, t)
	}
	return a, size
}

// addProperties adds the properties of a ticket and its players, and returns about how many bytes that is.
func addProperties(a *response.Arrival, t *pb.Ticket) (size int) {
	add := func(to *map[string][]byte, properties map[string][]byte) {
		if len(properties) == 0 {
			return
		}
		*to = properties
		for name, value := range properties {
			size += len(name) + base64.StdEncoding.EncodedLen(len(value)) + 6 // quotes, colon and comma
		}
	}
	add(&a.Properties, t.GetProperties())
	for i, p := range t.GetPlayers() {
		add(&a.Players[i].Properties, p.GetProperties())
	}
	return size
}

// of returns the arrivals of an event's tickets, in their order, null for tickets that are gone. It returns none for
// other events than kind created, or if the query does not ask for arrivals.
func (a arrivals) of(e *pb.Event) []*response.Arrival {
	if a == nil || e.GetKind() != pb.Event_KIND_CREATED {
		return nil
	}
	list := make([]*response.Arrival, len(e.GetTickets()))
	for i, id := range e.GetTickets() {
		list[i] = a[id]
	}
	return list
}
