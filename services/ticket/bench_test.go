package ticket_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/export"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

const usual = `{"attributes":{"skill":1500,"level":12,"latency":40,"region":2},"properties":{"loadout":"c29tZSBsb2Fkb3V0IG9mIGEgcGxheWVy"}}`

// BenchmarkObserved is the processor time of creating a ticket, from the request to the answer with a real Redis and
// NATS and the network left out, without telemetry, with metrics, and with traces of a share of the tickets on top of
// these.
func BenchmarkObserved(b *testing.B) {
	const tickets, connections = 4000, 64
	creates := map[string]func(){}
	for way, t := range spantest.OpenModes(b) {
		creates[way], _ = edges(b, t)
	}
	create := func(one func(), n int) {
		var under sync.WaitGroup
		for range connections {
			under.Go(func() {
				for range n / connections {
					if one(); b.Failed() {
						return
					}
				}
			})
		}
		under.Wait()
	}
	for _, way := range spantest.Modes {
		create(creates[way], tickets/4)
	}
	var cost spantest.Cost
	for b.Loop() {
		for _, way := range spantest.Modes {
			cost.Measure(b, way, func() { create(creates[way], tickets) })
		}
	}
	cost.Report(b, tickets/connections*connections)
}

// BenchmarkCreate is a create beside a bare handler behind the same middleware and checks, both with metrics.
func BenchmarkCreate(b *testing.B) {
	create, bare := edges(b, spantest.OpenModes(b)["metrics"])
	for name, one := range map[string]func(){"create": create, "bare": bare} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				one()
			}
		})
	}
}

// edges return requests that create a ticket: one to the service, and one to a bare handler.
func edges(b *testing.B, t *export.Telemetry) (create, bare func()) {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	tokens, err := issuer.Open(b.TempDir(), time.Now)
	must(b, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{tokens.Trust()}, Log: log})
	must(b, err)
	bearer, err := tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "demo"})
	must(b, err)
	options := web.Options{Tracer: t.Tracer, Propagator: t.Propagator, Meter: t.Meter}
	service, handler := web.New(log, options), web.New(log, options)
	ticket.New(ticket.Options{
		Store: embeddedtest.Store(b, state.Options{}), Bus: embeddedtest.Bus(b, bus.Options{}), Verifier: verifier, Log: log,
		Now: time.Now, Settings: settings.Default[ticket.Settings](), Meter: t.Meter,
		Fields: fields.Limits{Attributes: 64, Properties: 64, Players: 64, Name: 128},
		Tracer: telemetry.NewTracer(t.Tracer, "ticket"),
	}).Routes(service)
	handler.POST(web.Base+"/tickets", func(c echo.Context) error {
		var in struct {
			Attributes map[string]float64 `json:"attributes"`
			Properties map[string][]byte  `json:"properties"`
		}
		if err := web.Decode(c, &in); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, response.CreatedTicket{ID: "0"})
	}, verifier.Require(auth.Player))
	return func() { send(b, service, bearer) }, func() { send(b, handler, bearer) }
}

// send sends a request that creates a ticket.
func send(b *testing.B, e *echo.Echo, bearer string) {
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/demo/matchmaking/api/v1/tickets",
		strings.NewReader(usual))
	r.Header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	r.Header.Set(echo.HeaderAuthorization, "Bearer "+bearer)
	w := httptest.NewRecorder()
	if e.ServeHTTP(w, r); w.Code != http.StatusCreated {
		b.Error(w.Body)
	}
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
