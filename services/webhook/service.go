// Package webhook sends the events of projects to the URLs that their settings name.
//
// It is a part of the config service's process, which has the keys of the secrets. One process delivers the events of a
// project: it has a lease in Redis. It reads the stream of events from a place that is kept for each webhook, and notes
// once a second how far all events before were delivered. So every event is sent at least once, and the events of a
// match in order: the next one waits until the one before was taken, or was given up. What was given up is a dead
// letter, which a developer can look at and send again.
//
// Each webhook has a window of events and requests of its own, and an endpoint that takes nothing gets one request at
// a time, with pauses. So a slow endpoint holds up no other webhook.
//
//	service.go   projects and their leases
//	deliver.go   the window of a webhook, its order, pauses and dead letters
//	send.go      one request: what is sent, its signature, and which addresses it may reach
//	api.go       what studios see
package webhook

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/quota"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      *bus.Bus
	Verifier *auth.Verifier
	Log      *slog.Logger
	// Name is this replica's own.
	Name     string
	Settings Settings
	// Keys decrypt the secrets; nil where there are none.
	Keys *keyring.Ring
	// Limit comes behind the check of the token; nil for none.
	Limit echo.MiddlewareFunc
	// Encode returns an event as JSON, as the API has it. id is its own.
	Encode func(id string, e *pb.Event) ([]byte, error)
	// Timing is what only tests change.
	Timing Timing
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
}

// Timing has the intervals of the delivery. Zeros stand for the usual times.
type Timing struct {
	// Look is how often a process looks for projects whose lease is free.
	Look time.Duration `default:"10s"`
	// Note is how often it notes how far events were delivered. A lease lasts ten times as long.
	Note time.Duration `default:"1s"`
	// Pause is the shortest pause after a failure, and MaxPause the longest.
	Pause    time.Duration `default:"1s"`
	MaxPause time.Duration `default:"1m"`
	// News is the least time between two events that tell of a webhook.
	News time.Duration `default:"1m"`
}

// memory is about how many bytes of events all webhooks of a process hold; a webhook may have half of what the others
// leave, but windowBytes at most.
const memory = 64 << 20

// Service is the service.
type Service struct {
	Options
	sender *sender
	memory *quota.Shares[string]
	// wake makes it look for projects at once.
	wake notify.Signal

	results telemetry.Values
	sent    metric.Int64Counter
	took    metric.Float64Histogram
	given   metric.Int64Counter

	mu sync.Mutex
	// leading are the projects that this process delivers for, and until when it has their leases.
	leading map[string]time.Time
}

// New makes the service.
func New(o Options) (*Service, error) {
	settings.Complete(&o.Timing)
	networks, err := o.Settings.networks()
	if err != nil {
		return nil, err
	}
	return &Service{Options: o, sender: newSender(o.Settings.Time, networks), memory: quota.NewShares[string](memory),
		wake: notify.New(), leading: map[string]time.Time{},
		results: telemetry.LabelsByValue(nil, "result", outcomes...),
		sent: o.Meter.Counter("matchmaker.webhook.requests", "{request}",
			"Requests to webhooks, by result: taken, refused (another status than 2xx), unreachable, forbidden (the address)."),
		took: o.Meter.WorkSeconds("matchmaker.webhook.time", "How long requests to webhooks took, by result."),
		given: o.Meter.Counter("matchmaker.webhook.dead_letters", "{event}",
			"Events that were given up, and are dead letters."),
	}, nil
}

// Part serves the endpoints and delivers events.
func (s *Service) Part() app.Part {
	return app.Part{Name: "webhooks", Routes: s.routes, Run: s.run}
}

// Changed notes that the settings of a project have changed.
func (s *Service) Changed() { s.wake.Notify() }

// run leads the projects whose leases it gets, until ctx ends.
func (s *Service) run(ctx context.Context) error {
	var leaders sync.WaitGroup
	defer leaders.Wait()
	defer s.sender.client.CloseIdleConnections()
	for ctx.Err() == nil {
		projects, err := s.Store.Projects(ctx)
		if err == nil {
			projects, err = s.Store.WebhookProjects(ctx, projects)
		}
		if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "webhooks: projects could not be read", "error", err)
		}
		for _, project := range projects {
			s.mu.Lock()
			_, leads := s.leading[project]
			if err == nil && !leads {
				s.leading[project] = time.Time{}
			}
			s.mu.Unlock()
			if err == nil && !leads {
				leaders.Go(func() {
					s.lead(ctx, project)
					s.mu.Lock()
					defer s.mu.Unlock()
					delete(s.leading, project)
				})
			}
		}
		s.wake.Await(ctx, s.Timing.Look, nil)
	}
	return nil
}

// lead delivers the events of a project while this process has the lease and the project has webhooks.
func (s *Service) lead(ctx context.Context, project string) {
	hold := 10 * s.Timing.Note
	running := map[string]*deliverer{}
	defer func() {
		for _, d := range running {
			d.stop()
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		// What was delivered is noted, if the lease has not ended meanwhile.
		_ = s.note(ctx, project, 0, running)
	}()
	renewed := time.Now() // with all that a step does
	for range wait.Every(ctx, s.Timing.Note) {
		if began, err := time.Now(), s.step(ctx, project, hold, running); err == nil {
			renewed = began
		} else if errors.Is(err, errLost) || time.Since(renewed) > hold/2 {
			return
		}
	}
}

// awaitLease waits until the lease of a project lasts, after this process stood still.
func (s *Service) awaitLease(ctx context.Context, project string) {
	for range wait.Every(ctx, s.Timing.Note) {
		s.mu.Lock()
		until := s.leading[project]
		s.mu.Unlock()
		if time.Now().Before(until) {
			return
		}
	}
}

// errLost means that another process delivers the events of a project, or that it has no webhooks.
var errLost = errors.New("webhook: no lease")

// step renews the lease, notes what was delivered, and begins and ends deliverers as the settings say.
func (s *Service) step(ctx context.Context, project string, hold time.Duration, running map[string]*deliverer) error {
	began := time.Now()
	if err := s.note(ctx, project, hold, running); err != nil {
		return err
	}
	s.mu.Lock()
	s.leading[project] = began.Add(hold)
	s.mu.Unlock()
	p, err := s.Store.Settings(ctx, project)
	if err != nil {
		return err
	}
	wanted := map[string]*pb.Webhook{}
	for _, w := range p.GetWebhooks() {
		wanted[w.GetName()] = w
	}
	for name, d := range running {
		if !proto.Equal(wanted[name], d.hook) {
			d.stop()
			err = s.note(ctx, project, hold, map[string]*deliverer{name: d})
			delete(running, name)
		}
	}
	if err != nil || len(wanted) == len(running) {
		return err
	}
	kept, err := s.Store.Webhooks(ctx, project)
	for name, w := range wanted {
		if _, there := running[name]; !there && kept[name].Place != "" {
			running[name] = s.begin(ctx, project, w, kept[name])
		}
	}
	return err
}

// note takes or renews the lease, notes what deliverers did, and tells of it by events.
func (s *Service) note(ctx context.Context, project string, hold time.Duration, of map[string]*deliverer) error {
	var notes []state.WebhookNote
	var kept map[string]state.WebhookState
	var err error
	for _, d := range of {
		n, changed := d.note()
		if len(n.Letters) > 0 && kept == nil && err == nil {
			kept, err = s.Store.Webhooks(ctx, project)
		}
		n.Letters = append(n.Letters, tooMany(kept[n.Name].Letters, n.Letters)...)
		if changed {
			notes = append(notes, n)
		}
	}
	held := false
	if err == nil {
		held, err = s.Store.NoteWebhooks(ctx, project, s.Name, hold, notes...)
	}
	if err == nil && !held {
		err = errLost
	}
	if err != nil {
		for _, n := range notes {
			of[n.Name].unsaved(n)
		}
		return err
	}
	for _, d := range of {
		for e := d.news(time.Now()); e != nil && err == nil; e = d.news(time.Now()) {
			if err = s.Store.AppendEvent(ctx, project, e); err == nil {
				d.untold = nil
			}
		}
	}
	return err
}

// tooMany returns what deletes the oldest dead letters of a webhook, if with the new ones there are too many, or too
// many bytes of them.
func tooMany(kept, more []state.DeadLetter) (oldest []state.DeadLetter) {
	bytes := 0
	for i, l := range slices.Backward(slices.Concat(kept, more)) {
		if bytes += len(l.Text); i < len(kept) && (bytes > letterBytes || len(kept)+len(more)-i > maxLetters) {
			oldest = append(oldest, state.DeadLetter{ID: l.ID})
		}
	}
	return oldest
}
