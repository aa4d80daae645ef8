package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/lab/recording"
)

// Recorded is the tickets of a recording. Tickets that left in it leave after the same time; the others are as patient
// as the scenario says, but never less than they were. It is a Source.
type Recorded struct {
	// Err is why it ended early; nil if it did not.
	Err error
	// Duration is the time from the first ticket to the last event. Unknown is how many tickets are left out, since
	// their attributes are unknown, and Gaps how often events may be missing.
	Duration      time.Duration
	Unknown, Gaps int

	file     *os.File
	reader   *recording.Reader
	began    int64
	patience population.Distribution
	random   *rand.Rand
	last     time.Duration
	// ages are for how many milliseconds tickets waited in the recording, by their number, and what they did then: it
	// is negative for those that left. It is 0 if that is not known.
	ages []int32
}

// mostRecorded is how many tickets of a recording are read.
const mostRecorded = 200_000_000

// OpenRecording opens a recording and reads how long its tickets waited.
func OpenRecording(name string, patience population.Distribution, seed uint64) (*Recorded, error) {
	r := &Recorded{patience: patience, random: population.Stream(seed, "patience")}
	if err := r.open(name); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (r *Recorded) open(name string) (err error) {
	if r.file, err = os.Open(name); err != nil {
		return err
	}
	if err := r.learn(); err != nil {
		r.Close()
		return err
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		r.Close()
		return err
	}
	if r.reader, err = recording.NewReader(r.file); err != nil {
		r.Close()
	}
	return err
}

// learn reads the recording for the first time.
func (r *Recorded) learn() error {
	reader, err := recording.NewReader(r.file)
	if err != nil {
		return err
	}
	defer reader.Close()
	var came []int64 // when each ticket did
	var last int64
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if e.Kind == recording.Gap {
			r.Gaps++
			continue
		}
		last = max(last, e.Time)
		if e.Kind == recording.Arrived {
			if n := uint64(len(came) + 1); e.Tickets[0] != n || n > mostRecorded {
				return fmt.Errorf("the ticket %d has the number %d", n, e.Tickets[0])
			}
			if came = append(came, e.Time); r.began == 0 {
				r.began = e.Time
			}
			r.ages = append(r.ages, 0)
			continue
		}
		ended := e.Kind == recording.Cancelled || e.Kind == recording.Ended || e.Kind == recording.Assigned ||
			e.Kind == recording.Failed
		for _, ticket := range e.Tickets {
			if ticket < 1 || ticket > uint64(len(came)) {
				return fmt.Errorf("the ticket %d did not come", ticket)
			}
			if !ended || r.ages[ticket-1] != 0 {
				continue
			}
			age := int32(min(max(1, e.Time-came[ticket-1]), 1<<30))
			if e.Kind == recording.Cancelled {
				age = -age
			}
			r.ages[ticket-1] = age
		}
	}
	if len(came) == 0 {
		return errors.New("the recording has no ticket")
	}
	r.Duration = max(time.Second, time.Duration(last-r.began)*time.Millisecond)
	return nil
}

// Close closes the file.
func (r *Recorded) Close() {
	if r.reader != nil {
		r.reader.Close()
	}
	_ = r.file.Close() // it was only read
}

// Next returns the next ticket whose attributes are known.
func (r *Recorded) Next() (*population.Arrival, bool) {
	for {
		e, err := r.reader.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.Err = err
			}
			return nil, false
		}
		if e.Kind != recording.Arrived {
			continue
		}
		if !e.Arrival.Known {
			r.Unknown++
			continue
		}
		return r.arrival(e), true
	}
}

func (r *Recorded) arrival(e *recording.Event) *population.Arrival {
	a := e.Arrival
	r.last = max(r.last, time.Duration(e.Time-r.began)*time.Millisecond) // clocks may differ
	t := &pb.Ticket{AttributeNames: a.Attributes.Names, AttributeValues: a.Attributes.Values, Queues: a.Queues,
		Properties: propertiesOf(&a.Properties)}
	for i := range a.Players {
		p := &a.Players[i]
		one := &pb.Player{Id: strconv.FormatUint(p.Number, 10), AttributeNames: p.Attributes.Names,
			AttributeValues: p.Attributes.Values, Properties: propertiesOf(&p.Properties)}
		if i == 0 {
			t.Owner = one.GetId()
		}
		t.Players = append(t.Players, one)
	}
	if first := t.GetPlayers(); len(first) == 1 && len(first[0].GetAttributeNames())+len(first[0].GetProperties()) == 0 {
		t.Players = nil // the owner is the only one
	}
	return &population.Arrival{At: r.last, Patience: r.patienceOf(e.Tickets[0]), Ticket: t}
}

// propertiesOf are properties that stay when the recording is read on; nil for none.
func propertiesOf(p *recording.Properties) map[string][]byte {
	if len(p.Names) == 0 {
		return nil
	}
	all := make(map[string][]byte, len(p.Names))
	for i, name := range p.Names {
		all[name] = bytes.Clone(p.Values[i])
	}
	return all
}

// patienceOf is how long a ticket waits before it leaves; 0 for any time.
func (r *Recorded) patienceOf(ticket uint64) time.Duration {
	age := r.ages[ticket-1]
	if age < 0 {
		return time.Duration(-age) * time.Millisecond
	}
	if r.patience.IsZero() {
		return 0
	}
	least := time.Duration(age) * time.Millisecond
	const tries = 100
	for range tries {
		if d := population.Seconds(r.patience.Draw(r.random)); d > least {
			return d
		}
	}
	return least // it is one of very few
}
