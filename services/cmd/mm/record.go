package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/recording"
)

type recordCommand struct {
	Out     string        `required:"" placeholder:"FILE" help:"The file to write."`
	For     time.Duration `default:"1h" help:"How long to record; Ctrl-C ends it earlier."`
	MaxSize int           `default:"1024" placeholder:"MIB" help:"How large the file may become, in MiB. Then the recording ends."`
	Force   bool          `help:"Replace the file if there is one."`
}

func (recordCommand) Help() string {
	return `Records the tickets that come from now on: their attributes, queues and parties, when they leave, and the
matches that they get. Tickets, players and matches have numbers in the file, and no names. Properties are not recorded.
"mm simulate" plays a recording. A developer's token is needed, and the role Support is enough.

Examples:

    mm record --out evening.mmrec
    mm record --out day.mmrec --for 24h`
}

// Validate is called by the parser.
func (c recordCommand) Validate() error {
	if c.For <= 0 {
		return usageError("--for must be more than 0, such as 1h")
	}
	if c.MaxSize < 1 {
		return usageError("--max-size must be 1 or more, in MiB")
	}
	return nil
}

// errEnough ends a recording that is as large as it may be.
var errEnough = errors.New("the file is as large as it may be")

// Run records until the time is over.
func (c recordCommand) Run(ctx untimed, s *session) (err error) {
	api, err := s.connect(asDeveloper(), reconnecting)
	if err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !c.Force {
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(c.Out, flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists: --force replaces it", c.Out)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w, err := recording.NewWriter(file)
	if err != nil {
		return err
	}
	r := newRecorder(w)
	bar := s.startProgress("recording", 0)
	defer bar.stop()
	timed, cancel := context.WithTimeout(ctx, c.For)
	defer cancel()
	err = api.FollowEvents(timed, client.EventQuery{Arrivals: true}, func(e client.Event) error {
		if err := r.add(&e); err != nil {
			return err
		}
		if r.events%100 == 0 {
			bar.setMessage("recording: " + r.String())
		}
		if w.Size() > int64(c.MaxSize)<<20 {
			return errEnough
		}
		return nil
	})
	bar.stop()
	switch {
	case timed.Err() != nil: // the time is over, or Ctrl-C
		err = nil
	case errors.Is(err, errEnough):
		s.note("%s: the recording ends here (--max-size)", err)
		err = nil
	}
	// What was recorded is kept, whatever ended it.
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	if r.gaps > 0 {
		s.note("events may be missing, %d times", r.gaps)
	}
	s.note("wrote %s: %s", c.Out, r)
	return nil
}

// maxRecorded is how many tickets, players and matches a recorder remembers of each. If there are more, it forgets
// them, and they are others from then on.
const maxRecorded = 20_000_000

// numbering gives numbers to ids, from 1.
type numbering struct {
	of   map[string]uint64
	last uint64
}

// number is that of an id. It is a new one if the id is not known.
func (n *numbering) number(id string) uint64 {
	if number, known := n.of[id]; known {
		return number
	}
	if n.of == nil || len(n.of) >= maxRecorded {
		n.of = map[string]uint64{}
	}
	n.last++
	n.of[id] = n.last
	return n.last
}

// recorder writes events without the names of tickets, players and matches.
type recorder struct {
	out                       *recording.Writer
	tickets, players, matches numbering
	events, unknown, gaps     int
}

func newRecorder(out *recording.Writer) *recorder { return &recorder{out: out} }

func (r *recorder) String() string {
	text := fmt.Sprintf("%d tickets, %d players, %d matches", r.tickets.last, r.players.last, r.matches.last)
	if r.unknown > 0 {
		text += fmt.Sprintf("; %d tickets had ended before they were read", r.unknown)
	}
	return text
}

// kinds are what events are in a recording. Others are left out.
var kinds = map[string]recording.Kind{
	"created": recording.Arrived, "cancelled": recording.Cancelled, "expired": recording.Ended,
	"claimed": recording.Claimed, "allocating": recording.Allocates, "assigned": recording.Assigned,
	"failed": recording.Failed, "released": recording.Released, "gap": recording.Gap,
}

// add adds an event. Tickets that came before the recording are left out.
func (r *recorder) add(e *client.Event) error {
	r.events++
	kind, known := kinds[e.Kind]
	if !known {
		return nil
	}
	one := &recording.Event{Time: e.Time.UnixMilli(), Kind: kind, Config: e.Config}
	if kind == recording.Arrived {
		return r.arrive(one, e)
	}
	if kind == recording.Gap {
		r.gaps++
		return r.out.Add(one)
	}
	for _, id := range e.Tickets {
		if number, known := r.tickets.of[id]; known {
			one.Tickets = append(one.Tickets, number)
		}
	}
	if len(one.Tickets) == 0 {
		return nil
	}
	if e.Match != "" {
		one.Match = r.matches.number(e.Match)
	}
	if err := r.out.Add(one); err != nil {
		return err
	}
	switch kind {
	case recording.Cancelled, recording.Ended, recording.Assigned, recording.Failed:
		for _, id := range e.Tickets { // what happens to them afterwards is of no interest
			delete(r.tickets.of, id)
		}
	}
	switch kind {
	case recording.Assigned, recording.Failed, recording.Released:
		delete(r.matches.of, e.Match)
	}
	return nil
}

// arrive adds the tickets of an event of the kind created.
func (r *recorder) arrive(one *recording.Event, e *client.Event) error {
	for i, id := range e.Tickets {
		a := new(recording.Arrival)
		if i < len(e.Arrivals) && e.Arrivals[i] != nil {
			a = r.arrival(e.Arrivals[i])
		}
		one.Tickets, one.Arrival = []uint64{r.tickets.number(id)}, a
		if err := r.out.Add(one); err != nil {
			// It has more names than a recording takes.
			one.Arrival = &recording.Arrival{}
			if err := r.out.Add(one); err != nil {
				return err
			}
		}
		if !one.Arrival.Known {
			r.unknown++
		}
	}
	return nil
}

func (r *recorder) arrival(of *client.Arrival) *recording.Arrival {
	a := &recording.Arrival{Known: true, Queues: of.Queues, Attributes: recorded(of.Attributes)}
	for _, p := range of.Players {
		a.Players = append(a.Players, recording.Player{Number: r.players.number(p.ID), Attributes: recorded(p.Attributes)})
	}
	return a
}

// recorded are attributes in the order of their names.
func recorded(values map[string]float64) (a recording.Attributes) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		a.Names, a.Values = append(a.Names, name), append(a.Values, values[name])
	}
	return a
}
