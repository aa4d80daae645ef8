package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/wait"
)

// command is a line of the programme.
type command struct {
	Do                                  string
	URL, Project, Player, Mode, Storage string
	For                                 string // the player for whom a game service acts
	Scale                               float64
	Epoch, Clock                        int64
	Match, Backfill, Connection         string
	Token, Error, Code, Pass            string
	Queues                              []string
	Attributes                          map[string]float64
	Size                                int
	Ready                               bool
	Open                                float64
	Network                             string
	Probes, Timeout                     int
	Measured                            bool
}

// event is a line to the programme.
type event map[string]any

type driver struct {
	start  command
	client *client.Client
	now    func() time.Time
	tokens chan command

	mu     sync.Mutex
	out    *json.Encoder
	search *client.Search
	ticket string // of the search
	// cancelling says that the search was asked to end.
	cancelling bool
	party      string
	open       float64
	latencies  *client.Latencies
	receipts   []string
	filler     *client.Filler
	endFill    context.CancelFunc
}

func newDriver(out io.Writer) *driver {
	return &driver{tokens: make(chan command), out: json.NewEncoder(out)}
}

func (d *driver) emit(e event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.out.Encode(e)
}

// words are what the protocol calls general codes that it names otherwise.
var words = map[client.Code]string{
	client.CodeLimited: "busy", client.CodeUnavailable: "busy", client.CodeUnauthenticated: "token",
	client.CodeNotFound: "not_found", client.CodeInternal: "unexpected", client.CodeTooLarge: "invalid",
	client.CodeUnsupported: "invalid", client.CodeIdempotencyKeyReused: "invalid",
	client.CodeMethodNotAllowed: "invalid", client.CodeNotAcceptable: "invalid",
}

func (d *driver) fail(err error) {
	code := client.GeneralCode(err)
	d.emit(event{"event": "error", "code": cmp.Or(words[code], string(code)), "player": client.PlayerText(err)})
}

// run obeys commands until there are no more.
func (d *driver) run(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return fmt.Errorf("a command: %w", err)
		}
		if err := d.obey(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.Do, err)
		}
	}
	return lines.Err()
}

// obey begins what a command asks for. An error ends the driver.
func (d *driver) obey(ctx context.Context, c command) error {
	calls := map[string]func(context.Context, command) error{
		"accept": d.answer, "decline": d.answer, "estimate": d.estimate, "party-create": d.joinParty,
		"party-join": d.joinParty, "party-ready": d.partyReady, "party-search": d.partySearch, "party-leave": d.partyLeave,
		"party-kick": d.partyKick,
		"seat":       d.checkPass, "measure": d.measure,
	}
	if call, ok := calls[c.Do]; ok {
		go func() {
			if err := call(ctx, c); err != nil && ctx.Err() == nil {
				d.fail(err)
			}
		}()
		return nil
	}
	switch c.Do {
	case "start":
		return d.begin(c)
	case "token":
		go func() { d.tokens <- c }()
	case "search":
		t := client.TicketRequest{Player: d.start.Player, Queues: c.Queues, Attributes: c.Attributes}
		if c.Measured {
			d.mu.Lock()
			t.Receipts = d.receipts
			d.mu.Unlock()
		}
		d.run1(ctx, client.SearchOptions{Ticket: t})
	case "restore":
		saved, err := d.load()
		if err != nil {
			return err
		}
		if saved == nil {
			d.emit(event{"event": "idle"})
			return nil
		}
		d.run1(ctx, client.SearchOptions{Saved: saved})
	case "cancel":
		d.withSearch(func(s *client.Search) { d.cancelling = true; s.Cancel() })
	case "suspend":
		d.withSearch((*client.Search).Suspend)
	case "resume":
		d.withSearch((*client.Search).Resume)
	case "fill":
		d.fill(ctx, c)
	case "fill-end":
		d.endFill()
	default:
		d.emit(event{"event": "unsupported", "do": c.Do})
	}
	return nil
}

func (d *driver) begin(c command) (err error) {
	d.start = c
	d.start.Player = cmp.Or(c.For, c.Player)
	epoch := time.UnixMilli(c.Epoch)
	d.now = func() time.Time {
		passed := float64(time.Since(epoch)) / c.Scale
		return epoch.Add(time.Duration(passed) + time.Duration(c.Clock)*time.Millisecond)
	}
	o := client.Options{URL: c.URL, Project: c.Project, Token: client.TokenCallback(d.askToken), Retry: client.Retry{
		Scale: c.Scale, Now: d.now,
		Sleep: func(ctx context.Context, t time.Duration) error {
			return wait.For(ctx, time.Duration(float64(t)*c.Scale))
		},
	}}
	if d.client, err = client.New(o); err != nil {
		return err
	}
	can := []string{"player", "party", "server", "seats", "measure", "heads", "redirects", "acts"}
	d.emit(event{"event": "ready", "language": "Go", "can": can})
	return nil
}

func (d *driver) askToken(ctx context.Context, why client.TokenReason) (string, error) {
	d.emit(event{"event": "token", "reason": why})
	select {
	case c := <-d.tokens:
		if c.Error != "" {
			return "", errors.New(c.Error)
		}
		return c.Token, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (d *driver) withSearch(do func(*client.Search)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.search != nil {
		do(d.search)
	}
}

// run1 runs a search.
func (d *driver) run1(ctx context.Context, o client.SearchOptions) {
	o.Save, o.Tell = d.save, d.report
	s := d.client.Search(o)
	d.mu.Lock()
	d.search, d.cancelling = s, false
	d.mu.Unlock()
	go func() {
		t, err := s.Run(ctx)
		if ctx.Err() == nil {
			d.end(t, err)
		}
	}()
}

func (d *driver) report(e client.TicketEvent) {
	d.mu.Lock()
	d.ticket = e.ID
	d.mu.Unlock()
	switch e.Kind {
	case client.EventWaiting:
		d.emit(withEstimate(event{"event": "searching", "ticket": e.ID}, e.Estimate))
	case client.EventAcceptance:
		a := e.Acceptance
		d.emit(event{"event": "offered", "match": a.Match, "remaining": a.Remaining, "players": a.Players,
			"accepted": a.Accepted})
	}
}

func withEstimate(e event, of *client.Estimate) event {
	if of != nil {
		e["estimate"] = event{"low": of.Low, "high": of.High}
	}
	return e
}

func (d *driver) end(t *client.Ticket, err error) {
	ended, isEnd := errors.AsType[*client.EndedError](err)
	switch {
	case errors.Is(err, client.ErrCancelled):
		d.emit(event{"event": "cancelled"})
	case errors.Is(err, client.ErrNoTicket):
		d.emit(event{"event": "idle"})
	case isEnd:
		d.emit(event{"event": "failed", "reason": ended.Reason})
	case err != nil:
		d.fail(err)
	case t.Assignment.Error != "":
		d.emit(event{"event": "failed", "reason": "assignment", "detail": t.Assignment.Error})
	default:
		d.mu.Lock()
		late := d.cancelling
		d.mu.Unlock()
		if late {
			d.emit(event{"event": "late"})
		}
		e := event{"event": "matched", "ticket": t.ID, "connection": t.Assignment.Connection}
		if pass := t.Assignment.Seats[d.start.Player]; pass != "" {
			e["seat"] = pass
		}
		d.emit(e)
	}
}

func (d *driver) file() string { return filepath.Join(d.start.Storage, "search.json") }

func (d *driver) save(s *client.SavedSearch) {
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(d.file()+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(d.file()+".new", d.file())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver: save:", err)
	}
}

// load is the search that was saved, nil when there is none.
func (d *driver) load() (saved *client.SavedSearch, err error) {
	text, err := os.ReadFile(d.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return saved, json.Unmarshal(text, &saved)
}

func (d *driver) answer(ctx context.Context, c command) error {
	d.mu.Lock()
	s := d.search
	d.mu.Unlock()
	if s == nil {
		return errors.New("there is no search")
	}
	return s.Answer(ctx, c.Do == "accept")
}

func (d *driver) estimate(ctx context.Context, _ command) error {
	d.mu.Lock()
	id := d.ticket
	d.mu.Unlock()
	t, err := d.client.GetTicketWithEstimate(ctx, id)
	if err != nil {
		return err
	}
	e := event{"event": "estimate"}
	if t.Estimate != nil {
		e["low"], e["high"] = t.Estimate.Low, t.Estimate.High
	}
	d.emit(e)
	return nil
}
