package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// entry is one line of a journal. One of its fields is set.
type entry struct {
	Terms   *Terms   `json:"terms,omitempty"`
	Call    *Call    `json:"call,omitempty"`
	Step    *Step    `json:"step,omitempty"`
	Change  *Change  `json:"change,omitempty"`
	Round   *Round   `json:"round,omitempty"`
	Hosting *Hosting `json:"hosting,omitempty"`
	Event   *Event   `json:"event,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	Loss    *Loss    `json:"loss,omitempty"`
	Calm    *Moment  `json:"calm,omitempty"`
}

// Journal writes a history to a file, one line an entry. It is safe for concurrent use.
type Journal struct {
	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
	seen History
	err  error
}

// Begin begins a journal in a new file.
func Begin(path string, t Terms) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: file, out: bufio.NewWriterSize(file, 1<<20)}
	j.note(entry{Terms: &t})
	return j, nil
}

// Call notes a player's request.
func (j *Journal) Call(c Call) { j.note(entry{Call: &c}) }

// Step notes a request about a party.
func (j *Journal) Step(s Step) { j.note(entry{Step: &s}) }

// Change notes a studio's request.
func (j *Journal) Change(c Change) { j.note(entry{Change: &c}) }

// Round notes a game server's request.
func (j *Journal) Round(r Round) { j.note(entry{Round: &r}) }

// Hosting notes what the hosting system did.
func (j *Journal) Hosting(h Hosting) { j.note(entry{Hosting: &h}) }

// Event notes an entry of the system's event log.
func (j *Journal) Event(e Event) { j.note(entry{Event: &e}) }

// Fault notes a fault.
func (j *Journal) Fault(f Fault) { j.note(entry{Fault: &f}) }

// Loss notes a time whose writes may be lost.
func (j *Journal) Loss(l Loss) { j.note(entry{Loss: &l}) }

// Calm notes that the last fault is over and all processes run.
func (j *Journal) Calm() {
	now := Now()
	j.note(entry{Calm: &now})
}

func (j *Journal) note(e entry) {
	line, err := json.Marshal(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err == nil {
		_, err = j.out.Write(append(line, '\n'))
	}
	if j.err == nil {
		j.err = err // later ones only repeat it
	}
	j.seen.add(e)
}

// SoFar is the history until now.
func (j *Journal) SoFar() *History {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.seen
	return &h
}

// End ends the journal and returns the whole history.
func (j *Journal) End() (*History, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := errors.Join(j.err, j.out.Flush(), j.file.Close())
	return &j.seen, err
}

func (h *History) add(e entry) {
	switch {
	case e.Terms != nil:
		h.Terms = *e.Terms
	case e.Call != nil:
		h.Calls = append(h.Calls, *e.Call)
	case e.Step != nil:
		h.Steps = append(h.Steps, *e.Step)
	case e.Change != nil:
		h.Changes = append(h.Changes, *e.Change)
	case e.Round != nil:
		h.Rounds = append(h.Rounds, *e.Round)
	case e.Hosting != nil:
		h.Hostings = append(h.Hostings, *e.Hosting)
	case e.Event != nil:
		h.Events = append(h.Events, *e.Event)
	case e.Fault != nil:
		h.Faults = append(h.Faults, *e.Fault)
	case e.Loss != nil:
		h.Losses = append(h.Losses, *e.Loss)
	case e.Calm != nil:
		h.Calm = *e.Calm
	}
}

// Read reads a journal. It may be incomplete, as after a crash.
func Read(in io.Reader) (*History, error) {
	h := new(History)
	lines := bufio.NewReaderSize(in, 1<<20)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return h, nil // the rest is an unfinished line
		}
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		h.add(e)
	}
}
