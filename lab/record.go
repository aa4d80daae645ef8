package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/lab/recording"
)

// Record has the commands "mm record".
type Record struct {
	Start recordStart `cmd:"" default:"withargs" help:"Record the tickets that come; it may be left out."`
	Erase recordErase `cmd:"" help:"Take a player out of a recording."`
}

// Help is what the parser prints.
func (Record) Help() string {
	return `"mm record" is "mm record start"; "mm record start --help" has its flags.

Examples:

    mm record --out evening.mmrec
    mm record erase day.mmrec ada --players day.players`
}

type recordStart struct {
	Out        string        `required:"" placeholder:"FILE" completion-predictor:"file" help:"The file to write."`
	For        time.Duration `default:"1h" help:"How long to record; Ctrl-C ends it earlier."`
	MaxSize    int           `default:"1024" placeholder:"MIB" help:"How large the file may become, with the list of players, in MiB. Then the recording ends."`
	Properties bool          `help:"Record properties, too. --players is needed."`
	Players    string        `placeholder:"FILE" completion-predictor:"file" help:"Keep the list of the players in this file, for mm record erase."`
	Force      bool          `help:"Replace the files if there are any."`
}

func (recordStart) Help() string {
	return `Records the tickets that come from now on: their attributes, queues and parties, when they leave, and the
matches that they get. Tickets, players and matches have numbers in the file, and no names. "mm simulate" plays a
recording. A developer's token is needed, and the role Support is enough.

With --properties it records what only functions understand, which may identify a player. So the list of players is
kept, by which "mm record erase" finds a player. The role Manager or Owner is needed, unless the project's settings say
that Support sees properties.

Examples:

    mm record --out evening.mmrec
    mm record --out day.mmrec --for 24h
    mm record --out day.mmrec --properties --players day.players`
}

// Validate is called by the parser.
func (c recordStart) Validate() error {
	if c.Properties && c.Players == "" {
		return errors.New("--properties needs --players FILE: without that list a player cannot be taken out again")
	}
	if c.Players != "" && c.Players == c.Out {
		return errors.New("--players and --out must be two files")
	}
	if c.For <= 0 {
		return errors.New("--for must be more than 0, such as 1h")
	}
	if c.MaxSize < 1 {
		return errors.New("--max-size must be 1 or more, in MiB")
	}
	return nil
}

// errEnough ends a recording that is as large as it may be.
var errEnough = errors.New("the file is as large as it may be")

// Run records until the time is over.
func (c recordStart) Run(ctx Untimed, t *Terminal) (err error) {
	api, err := t.Connect()
	if err != nil {
		return err
	}
	query := client.EventQuery{Arrivals: true, Properties: c.Properties, Limit: 1}
	if c.Force { // what is there stays, unless a new recording can be made
		if _, err := api.GetEvents(ctx, query); err != nil {
			return err
		}
	}
	r, file, err := c.begin()
	if err != nil {
		return err
	}
	// What was recorded is kept, whatever ended it.
	defer func() {
		if err != nil && r.events == 0 {
			err = errors.Join(err, file.remove())
			return
		}
		if err = errors.Join(err, file.close()); err == nil {
			t.Note("wrote %s: %s", c.Out, r)
		}
	}()
	setMessage, stop := t.Progress("recording")
	defer stop()
	timed, cancel := context.WithTimeout(ctx, c.For)
	defer cancel()
	err = api.FollowEvents(timed, query, func(e client.Event) error {
		if err := r.add(&e); err != nil {
			return err
		}
		if r.events%100 == 0 {
			setMessage("recording: " + r.String())
		}
		if r.size() > int64(c.MaxSize)<<20 {
			return errEnough
		}
		return nil
	})
	stop()
	switch {
	case timed.Err() != nil: // the time is over, or Ctrl-C
		err = nil
	case errors.Is(err, errEnough):
		t.Note("%s: the recording ends here (--max-size)", err)
		err = nil
	}
	if r.gaps > 0 {
		t.Note("events may be missing: %s", format.Plural(r.gaps, "time"))
	}
	return err
}

// begin creates the files. None is left where that fails.
func (c recordStart) begin() (_ *recorder, _ *recordedFiles, err error) {
	files := new(recordedFiles)
	defer func() {
		if err != nil {
			err = errors.Join(err, files.remove())
		}
	}()
	out, err := files.create(c.Out, c.Force)
	if err != nil {
		return nil, nil, err
	}
	w, err := recording.NewWriter(out)
	if err != nil {
		return nil, nil, err
	}
	files.writers = append(files.writers, w)
	r := newRecorder(w)
	if c.Players == "" {
		return r, files, nil
	}
	list, err := files.create(c.Players, c.Force)
	if err != nil {
		return nil, nil, err
	}
	if r.list, err = recording.NewPlayersWriter(list, w.ID()); err != nil {
		return nil, nil, err
	}
	files.writers = append(files.writers, r.list)
	return r, files, nil
}

// recordedFiles are the files of a recording, and what writes them.
type recordedFiles struct {
	files   []*os.File
	writers []io.Closer
}

// create creates a file that only its owner can read.
func (f *recordedFiles) create(name string, force bool) (*os.File, error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !force {
		flags |= os.O_EXCL
	}
	file, err := os.OpenFile(name, flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s exists: --force replaces it", name)
	}
	if err != nil {
		return nil, err
	}
	f.files = append(f.files, file)
	return file, nil
}

// close writes what is left, and closes the files.
func (f *recordedFiles) close() (err error) {
	for _, w := range f.writers {
		err = errors.Join(err, w.Close())
	}
	for _, file := range f.files {
		err = errors.Join(err, file.Close())
	}
	return err
}

// remove takes back the files that were created, in which nothing is yet.
func (f *recordedFiles) remove() (err error) {
	for _, file := range f.files {
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return err
}

// maxRecorded is how many tickets, players and matches a recorder remembers of each. If there are more, it forgets
// them, and they are others from then on.
const maxRecorded = 20_000_000

// numbering gives numbers to ids, from 1.
type numbering struct {
	of   map[string]uint64
	last uint64
}

// number is an id's number, a new one if the id is not known.
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
	list                      *recording.PlayersWriter // nil if players are not recorded
	tickets, players, matches numbering
	events, unknown, gaps     int
}

func newRecorder(out *recording.Writer) *recorder { return &recorder{out: out} }

// size is how many bytes were written, but for what is still in memory.
func (r *recorder) size() int64 {
	if r.list == nil {
		return r.out.Size()
	}
	return r.out.Size() + r.list.Size()
}

func (r *recorder) String() string {
	text := format.Plural(r.tickets.last, "ticket") + ", " + format.Plural(r.players.last, "player") + ", " +
		format.Plural(r.matches.last, "match")
	if r.unknown > 0 {
		text += "; ended before they were read: " + format.Plural(r.unknown, "ticket")
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
			var err error
			if a, err = r.arrival(e.Arrivals[i]); err != nil {
				return err
			}
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

func (r *recorder) arrival(of *client.Arrival) (*recording.Arrival, error) {
	a := &recording.Arrival{Known: true, Queues: of.Queues}
	a.Attributes.Names, a.Attributes.Values = recorded(of.Attributes)
	a.Properties.Names, a.Properties.Values = recorded(of.Properties)
	for i := range of.Players {
		p, last := &of.Players[i], r.players.last
		one := recording.Player{Number: r.players.number(p.ID)}
		if one.Number > last && r.list != nil { // it is new
			if err := r.list.Add(one.Number, p.ID); err != nil {
				return nil, err
			}
		}
		one.Attributes.Names, one.Attributes.Values = recorded(p.Attributes)
		one.Properties.Names, one.Properties.Values = recorded(p.Properties)
		a.Players = append(a.Players, one)
	}
	return a, nil
}

// recorded are attributes or properties in the order of their names.
func recorded[V any](of map[string]V) (names []string, values []V) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		names, values = append(names, name), append(values, of[name])
	}
	return names, values
}
