package bus

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Limits of one message to the requests that wait for results: its tickets, and about how many bytes of results.
// Results larger than carriedResult are not sent: the request reads its result.
const (
	assignedTickets = 4096 // ids of 36 bytes: far below a message's limit
	assignedBytes   = 256 << 10
	carriedResult   = 1 << 10
)

// resultAge is how old a message may be whose results need not be read. A Redis that took over since may lack an older
// result. The age is a difference of two hosts' clocks, which are expected to be up to a second apart: a message may be
// older by that, and a process that is further off, which its log says, has its results read.
const resultAge = time.Second

// NotifyAssigned wakes the requests that wait for these tickets, which have a result or never will have one. They read
// it. A failure is logged: the requests also look for themselves now and then.
func (b *Bus) NotifyAssigned(ctx context.Context, project string, tickets []string) {
	b.NotifyResults(ctx, project, tickets, nil)
}

// NotifyEnded wakes the requests that wait for tickets that ended without a result, and says why.
func (b *Bus) NotifyEnded(ctx context.Context, project string, tickets []string, reason string) {
	for some := range slices.Chunk(tickets, assignedTickets) {
		b.notify(ctx, assigned, project, &pb.Assigned{Tickets: some, Ended: reason})
	}
}

// NotifyResults is NotifyAssigned for tickets whose results were written, in the order of the tickets. Requests whose
// own read found the ticket waiting need not read again. A result that names an outcome is read: it is not complete.
func (b *Bus) NotifyResults(ctx context.Context, project string, tickets []string, results []*pb.Assignment) {
	for len(tickets) > 0 {
		m := AssignedMessage(tickets, results)
		n := len(m.GetTickets())
		if tickets = tickets[n:]; results != nil {
			results = results[n:]
		}
		b.notify(ctx, assigned, project, m)
	}
}

// AssignedMessage is about the first of the tickets, at least one. results may be nil, as a whole or for a ticket.
func AssignedMessage(tickets []string, results []*pb.Assignment) *pb.Assigned {
	m := new(pb.Assigned)
	n := min(len(tickets), assignedTickets)
	if results == nil {
		m.Tickets = tickets[:n]
		return m
	}
	m.Sent = time.Now().UnixMilli()
	numbers, bytes := map[*pb.Assignment]uint32{nil: 0}, 0
	for i := 0; i < n && bytes < assignedBytes; i++ {
		number, known := numbers[results[i]]
		if !known {
			text, err := proto.Marshal(results[i])
			if err == nil && len(text) <= carriedResult && results[i].GetOutcome() == "" {
				m.Results = append(m.Results, text)
				number, bytes = uint32(len(m.GetResults())), bytes+len(text)
			}
			numbers[results[i]] = number
		}
		m.Tickets, m.Result = append(m.GetTickets(), tickets[i]), append(m.GetResult(), number)
	}
	return m
}

// Assigned is a message about tickets.
type Assigned struct{ Message *pb.Assigned }

// Tickets have a result or never will have one.
func (a Assigned) Tickets() []string { return a.Message.GetTickets() }

// Ended is why the tickets ended without a result; "" if they have one, or the reason is unknown.
func (a Assigned) Ended() string { return a.Message.GetEnded() }

// Result returns the result of the i-th ticket; nil when it must be read.
func (a Assigned) Result(i int) *pb.Assignment {
	numbers, results := a.Message.GetResult(), a.Message.GetResults()
	if i >= len(numbers) || numbers[i] == 0 || int(numbers[i]) > len(results) ||
		time.Since(time.UnixMilli(a.Message.GetSent())).Abs() > resultAge {
		return nil
	}
	result := new(pb.Assignment)
	if proto.Unmarshal(results[numbers[i]-1], result) != nil {
		return nil
	}
	return result
}

// OnResults calls handle with the tickets of all projects that got a result, or were deleted, and with the results that
// need not be read.
func (b *Bus) OnResults(handle func(project string, a Assigned)) (Subscription, error) {
	return subscribeProjects(b, assigned, func(project string, a *pb.Assigned) { handle(project, Assigned{a}) })
}
