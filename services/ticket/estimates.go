package ticket

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/estimate"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

const (
	// estimatesAge is how old what is remembered of a project may be; directors write it every five seconds.
	estimatesAge = 2 * time.Second
	// estimatesMemory is about how many bytes the estimates of all projects take at most. decoded is how many bytes each
	// byte of a record takes.
	estimatesMemory = 32 << 20
	decoded         = 6
)

// estimates remembers how long the tickets of projects wait. Nothing is read for a project whose players do not ask.
type estimates struct {
	*remembered[*projectEstimates]

	read func(ctx context.Context, project string) (*pb.Waits, error)
	now  func() time.Time // of this process
}

// projectEstimates are a project's estimates. Requests use older ones while newer ones are read.
type projectEstimates struct {
	mu   sync.Mutex
	of   *estimate.Estimates // nil until they were read
	next time.Time           // when to read them again
}

func newEstimates(read func(context.Context, string) (*pb.Waits, error), now func() time.Time,
	m telemetry.Meter) *estimates {
	return &estimates{read: read, now: now, remembered: newRemembered[*projectEstimates](estimatesMemory, m,
		"matchmaker.estimates.size", "By",
		"About how many bytes the projects' estimates of waits take that this process remembers, and the most.")}
}

// estimate is for how much longer a ticket that waits is expected to wait; nil where that is not known. now is by
// Redis's clock.
func (e *estimates) estimate(
	ctx context.Context, project string, t *pb.Ticket, now time.Time,
) (*state.Estimate, error) {
	one := e.ensure(project, func() *projectEstimates { return new(projectEstimates) }, 256+len(project))
	one.mu.Lock()
	due := !e.now().Before(one.next)
	if due {
		one.next = e.now().Add(estimatesAge)
	}
	one.mu.Unlock()
	if due {
		waits, err := e.read(telemetry.Detach(ctx), project)
		if err != nil {
			return nil, err
		}
		made := estimate.NewEstimates(waits)
		one.mu.Lock()
		one.of = made
		one.mu.Unlock()
		e.keep(project, one, len(project)+256+decoded*proto.Size(waits))
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.of == nil {
		return nil, nil
	}
	if r, ok := one.of.Of(t, now); ok {
		return &state.Estimate{Low: r.Low, High: r.High}, nil
	}
	return nil, nil
}

// addEstimate notes on a ticket that waits for how much longer it is expected to. Its body must be whole. Without an
// answer of the state store there is no estimate.
func (s *service) addEstimate(ctx context.Context, project string, t *state.Ticket) {
	if t == nil || t.Assignment != nil || t.Matched {
		return
	}
	var err error
	if t.Estimate, err = s.estimates.estimate(ctx, project, t.Body, s.Store.Now()); err != nil {
		s.Log.DebugContext(ctx, "how long tickets wait was not read", "project", project, "error", err)
	}
}

// queryFlag reads a query parameter that is true or false. Most requests have none, and have their query parsed no more
// often for it.
func queryFlag(c echo.Context, name string) (bool, error) {
	if !c.QueryParams().Has(name) {
		return false, nil
	}
	query, err := web.Query(c, name)
	if err != nil {
		return false, err
	}
	return web.Flag(query, name)
}

// addUnserved notes on each ticket that waits which of its queues no config serves.
func (s *service) addUnserved(ctx context.Context, project string, tickets ...*state.Ticket) error {
	var queues []string
	for _, t := range tickets {
		if t != nil && t.Assignment == nil {
			queues = append(queues, t.Body.GetQueues()...)
		}
	}
	if len(queues) == 0 {
		return nil
	}
	unserved, err := s.Store.UnservedQueues(ctx, project, queues)
	for _, t := range tickets {
		if err == nil && t != nil && t.Assignment == nil {
			t.Unserved = slices.DeleteFunc(slices.Clone(t.Body.GetQueues()), func(queue string) bool {
				return !slices.Contains(unserved, queue)
			})
		}
	}
	return err
}
