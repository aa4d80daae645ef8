package simulation

import (
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/services/lab/population"
)

// comer is a ticket that comes, as the index takes it.
type comer struct {
	*population.Arrival
	id     string
	number int
	// body is nil for a ticket that no service takes.
	body []byte
	// came tells apart which players have come so far, with this one.
	came uint64
}

// ahead makes tickets while others are played: on another processor, if there is one.
type ahead struct {
	batches chan []*comer
	stop    chan struct{}
	ended   sync.WaitGroup
	next    []*comer
}

// Tickets are made so many at a time, and so many times before they come.
const (
	batchSize  = 64
	batchesOut = 16
)

// readAhead begins to make the tickets of a source that come from a time on. No other goroutine uses the source until
// close.
func readAhead(source Source, began time.Time, from time.Duration) *ahead {
	a := &ahead{batches: make(chan []*comer, batchesOut), stop: make(chan struct{})}
	a.ended.Go(func() {
		defer close(a.batches)
		var came digest
		for number := 0; ; {
			batch := make([]*comer, 0, batchSize)
			more := true
			for more && len(batch) < batchSize {
				var one *population.Arrival
				if one, more = source.Next(); !more {
					break
				}
				number++
				came.add(one)
				if one.At >= from {
					batch = append(batch, newComer(one, number, began, came.sum))
				}
			}
			select {
			case a.batches <- batch:
			case <-a.stop:
				return
			}
			if len(batch) < batchSize {
				return
			}
		}
	})
	return a
}

func newComer(a *population.Arrival, number int, began time.Time, came uint64) *comer {
	c := &comer{Arrival: a, id: "t" + strconv.Itoa(number), number: number, came: came}
	a.Ticket.Id, a.Ticket.Created = c.id, began.Add(a.At).UnixMilli()
	var err error
	if c.body, err = proto.Marshal(a.Ticket); err != nil {
		c.body = nil // a name that is not UTF-8, which no service takes
	}
	return c
}

// take returns the next ticket; nil when all have come.
func (a *ahead) take() *comer {
	if len(a.next) == 0 {
		if a.next = <-a.batches; len(a.next) == 0 {
			return nil
		}
	}
	one := a.next[0]
	a.next = a.next[1:]
	return one
}

// close gives the source back.
func (a *ahead) close() {
	close(a.stop)
	a.ended.Wait()
}
