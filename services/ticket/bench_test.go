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
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
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
	log := slog.New(slog.DiscardHandler)
	store, talk := embeddedtest.Store(b, state.Options{}), embeddedtest.Bus(b, bus.Options{})
	tokens, err := issuer.Open(b.TempDir(), time.Now)
	must(b, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{tokens.Trust()}, Log: log})
	must(b, err)
	bearer, err := tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "demo"})
	must(b, err)

	edges := map[string]*echo.Echo{}
	for way, t := range spantest.OpenModes(b) {
		e := web.New(log, web.Options{Tracer: t.Tracer, Propagator: t.Propagator, Meter: t.Meter})
		ticket.New(ticket.Options{
			Store: store, Bus: talk, Verifier: verifier, Log: log, Now: time.Now, Settings: settings.Default[ticket.Settings](),
			Fields: fields.Limits{Attributes: 64, Properties: 64, Players: 64, Name: 128},
			Tracer: telemetry.NewTracer(t.Tracer, "ticket"),
		}).Routes(e)
		edges[way] = e
	}
	create := func(e *echo.Echo, n int) {
		var under sync.WaitGroup
		for range connections {
			under.Go(func() {
				for range n / connections {
					r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/demo/matchmaking/api/v1/tickets",
						strings.NewReader(usual))
					r.Header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
					r.Header.Set(echo.HeaderAuthorization, "Bearer "+bearer)
					w := httptest.NewRecorder()
					if e.ServeHTTP(w, r); w.Code != http.StatusCreated {
						b.Error(w.Body)
						return
					}
				}
			})
		}
		under.Wait()
	}
	for _, way := range spantest.Modes {
		create(edges[way], tickets/4)
	}
	var cost spantest.Cost
	for b.Loop() {
		for _, way := range spantest.Modes {
			cost.Measure(b, way, func() { create(edges[way], tickets) })
		}
	}
	cost.Report(b, tickets/connections*connections)
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
