package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
)

// slower is the rate of requests that are few where they are honest.
func slower(a *attacker) int { return max(1, a.options.Flood/10) }

func requestAttacks() []attack {
	// The body is made once: the sender is on the same machine.
	refused := `{"matchmaking":{"targetFunction":{"name":"f"}},"pools":{` +
		strings.Repeat(`"p":[{"attribute":"a","min":2,"max":1}],`, 25_000) + `"q":[]}}`
	return []attack{
		{
			name: "gets-held", says: "3,000 GETs that are held", prepare: waiting(4),
			hold: doing(3000, func(ctx context.Context, a *attacker, i int) {
				api, player := a.api(attackerProject, catalog.Ticket), fmt.Sprintf("held-%d", i)
				id, err := api.CreateTicket(ctx, client.TicketRequest{Player: player})
				if !a.asked("ticket", err) {
					pause(ctx, time.Second)
					return
				}
				_, err = api.Wait(ctx, id)
				a.asked("wait", err)
				pause(ctx, time.Second)
			}),
		},
		{
			name: "gets", says: "GETs of one ticket without end", prepare: waiting(4),
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				api := a.api(attackerProject, catalog.Ticket)
				id, err := api.CreateTicket(ctx, client.TicketRequest{Player: "reader"})
				ready()
				if !a.asked("ticket", err) {
					return err
				}
				a.flood(ctx, a.options.Flood, func(int) {
					_, err := api.GetTicket(ctx, id)
					a.asked("read", err)
				})
				return nil
			},
		},
		{
			name: "log-reads", says: "readers of a function's whole log that do not stop", prepare: waiting(4),
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				a.start(ctx, attackerProject, hostileName, a.made.hostile)
				a.put(ctx, "bad", "chatter")
				ready()
				a.flood(ctx, slower(a), func(int) {
					_, err := a.api(attackerProject, catalog.Registry).GetFunctionLog(ctx, hostileName, 24*time.Hour)
					a.asked("log", err)
				})
				return nil
			},
		},
		{
			name: "backfills", says: "backfill tickets without number",
			hold: flooding(func(ctx context.Context, a *attacker, i int) {
				_, err := a.api(attackerProject, catalog.Backfill).CreateBackfill(ctx, client.BackfillRequest{
					Connection: fmt.Sprintf("127.0.0.1:%d", 1024+i%60_000), Attributes: map[string]float64{attackerAttribute: 1}})
				a.asked("backfill", err)
			}),
		},
		{
			name: "backfill-v1", says: "searches of the first generation that hang, in 64 lanes", prepare: waiting(4),
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				a.start(ctx, attackerProject, hostileName, a.made.hostile)
				ready()
				c := configOf(hostileName, attackerAttribute, map[string]any{"how": "hang"})
				forever(ctx, 64, func(i int) {
					_, err := a.api(attackerProject, catalog.Backfill).BackfillV1(ctx, client.BackfillV1Request{
						Connection: fmt.Sprintf("127.0.0.1:%d", 1024+i%60_000), Function: c.Matchmaking.TargetFunction,
						Pools: c.Pools, Config: c.Matchmaking.Config})
					if !a.asked("search", err) {
						pause(ctx, 50*time.Millisecond)
					}
				})
				return nil
			},
		},
		{
			name: "projects", says: "configs of projects that nobody has heard of, a new one each time",
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				ready()
				a.flood(ctx, slower(a), func(i int) {
					a.putConfig(ctx, fmt.Sprintf("new-%d", i), "bad", configOf("none", attackerAttribute, map[string]any{}))
				})
				return nil
			},
		},
		{
			name: "bodies-refused", says: "configs of 1 MiB that are refused",
			hold: flooding(func(ctx context.Context, a *attacker, _ int) {
				a.request(ctx, "config", http.MethodPut, attackerProject, catalog.Config, base+"/configs/refused",
					strings.NewReader(refused), http.Header{"Content-Type": {"application/json"}})
			}),
		},
		{
			name: "connections", says: "5,000 connections to the ticket service that say nothing",
			hold: doing(5000, func(ctx context.Context, a *attacker, _ int) {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", a.Address(catalog.Ticket))
				if !a.asked("connection", err) {
					pause(ctx, time.Second)
					return
				}
				defer func() { _ = conn.Close() }()
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				_, _ = conn.Read(make([]byte, 1)) // until the service closes it
			}),
		},
		{
			name: "bodies-slow", says: "1,000 tickets whose bodies are sent slowly",
			hold: doing(1000, func(ctx context.Context, a *attacker, _ int) {
				a.request(ctx, "ticket", http.MethodPost, attackerProject, catalog.Ticket, base+"/tickets",
					dripping(ctx, "{", 60<<10), http.Header{"Content-Type": {"application/json"}, "X-On-Behalf-Of": {"slow"}})
			}),
		},
	}
}

func matchAttacks() []attack {
	return []attack{
		{
			name: "hosting-hangs", says: "matches whose fleet manager never answers",
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				a.start(ctx, attackerProject, hostileName, a.made.hostile)
				c := configOf(hostileName, attackerAttribute, map[string]any{"how": "any"})
				c.Hosting = &client.Hosting{Profile: slowProfile, FleetID: slowProfile}
				a.putConfig(ctx, attackerProject, "bad", c)
				ready()
				return arriving(ctx, a, comers)
			},
		},
	}
}
