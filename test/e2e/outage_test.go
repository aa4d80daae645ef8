package e2e

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
)

// newProxy opens a proxy to a server, with which the test can cut connections.
func newProxy(t *testing.T, address string) *proxy.Proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := proxy.Listen(t.Context(), func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// natsAway: tickets are created while the message bus is away, and matched when it is back.
func natsAway(t *testing.T, p *project) {
	p.actor(t)
	p.match(t, attributes{"number": 0}) // all is well
	nats := p.s.proxies["NATS"]
	defer nats.Set(proxy.Open)
	nats.Set(proxy.Refused)
	const players = 20
	waiting := make([]*ticket, players)
	for i := range waiting {
		waiting[i] = p.ticket(t, "early-"+string(rune('a'+i)), attributes{"number": float64(i)})
		waiting[i].now(t)
	}
	for _, name := range []string{"ticket-1", "ticket-2"} {
		eventually(t, name+", which creates tickets without a message bus, is ready", func() bool {
			return p.s.probe(p.s.replica(name), "/readyz") == nil
		})
	}
	const bus = `matchmaker_dependency_up{dependency="nats"}`
	reaches := func(up float64) func() bool {
		return func() bool {
			counted := map[string]float64{}
			p.s.readMetrics(t, "ticket-1", map[string]map[string]bool{}, counted)
			return counted[bus] == up
		}
	}
	eventually(t, "the metrics say that the message bus is away", reaches(0))
	waiting[0].delete(t)
	waiting[1].delete(t)
	nats.Set(proxy.Open)
	eventually(t, "the metrics say that the message bus is there", reaches(1))
	met := map[string]int{}
	for _, k := range waiting[2:] {
		met[k.connection(t)]++
	}
	for connection, n := range met {
		if n != 2 {
			t.Errorf("%d players are sent to %s, want 2", n, connection)
		}
	}
	p.crowd(t, 20, nil).paired(t)
}

// redisAway: without Redis requests are answered 503. Nothing is missing when it is back.
func redisAway(t *testing.T, p *project) {
	p.actor(t)
	p.match(t, attributes{"number": 0})
	ada := p.ticket(t, "ada", attributes{"number": 1})
	redis := p.s.proxies["Redis"]
	defer redis.Set(proxy.Open)
	redis.Set(proxy.Refused)
	_, creating := p.create(within(t), "bob", attributes{"number": 2})
	_, reading := ada.api(t).GetTicket(within(t), ada.id)
	_, showing := p.developer(t).GetConfig(within(t), "actor")
	for what, err := range map[string]error{
		"creating a ticket": creating,
		"reading one":       reading,
		"deleting one":      ada.api(t).DeleteTicket(within(t), ada.id, ""),
		"reading a config":  showing,
		"deleting it":       p.developer(t).DeleteConfig(within(t), "actor"),
	} {
		if client.Status(err) != http.StatusServiceUnavailable {
			t.Errorf("%s without the state: %v, want 503", what, err)
		}
	}
	redis.Set(proxy.Open)
	eventually(t, "the state can be read again", func() bool {
		_, err := ada.api(t).GetTicket(within(t), ada.id)
		return err == nil
	})
	var bob *ticket
	eventually(t, "tickets are created again", func() bool {
		var err error
		bob, err = p.create(within(t), "bob", attributes{"number": 2})
		return !errors.Is(err, context.DeadlineExceeded) && err == nil
	})
	together(t, ada, bob)
	all := p.crowd(t, 20, nil)
	all.paired(t)
	all.meet(t)
}
