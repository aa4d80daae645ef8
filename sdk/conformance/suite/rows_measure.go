package suite

import (
	"context"
	"net"
	"slices"
	"time"
)

// measured is what an SDK says of a region.
type measured struct {
	rtt        float64 // 0: nothing was measured
	sent, lost float64
	receipts   []string
}

func listOf(e event) []any {
	list, _ := e["regions"].([]any)
	return list
}

// measure has the SDK measure, and returns what it says by region.
func (g *game) measure(network string, probes, timeout int) map[string]measured {
	g.do("measure", "network", network, "probes", probes, "timeout", timeout)
	list := listOf(g.expect("latencies"))
	all := map[string]measured{}
	for _, one := range list {
		of, _ := one.(map[string]any)
		var m measured
		m.rtt, _ = of["rtt"].(float64)
		m.sent, _ = of["sent"].(float64)
		m.lost, _ = of["lost"].(float64)
		receipts, _ := of["receipts"].([]any)
		for _, r := range receipts {
			text, _ := r.(string)
			m.receipts = append(m.receipts, text)
		}
		name, _ := of["region"].(string)
		all[name] = m
	}
	g.check(len(all) == len(g.regions), "%d regions were measured, and not %d", len(all), len(g.regions))
	return all
}

// proven checks that a region was measured, and that the service believes what the SDK says.
func (g *game) proven(name string, m measured) {
	if g.failed() {
		return
	}
	g.check(m.rtt > 0 && len(m.receipts) == 1, "region %s: %+v", name, m)
	if ms := g.believed(m.receipts)[name]; ms != m.rtt {
		g.fail("region %s: the service believes %v ms, and the SDK says %v", name, ms, m.rtt)
	}
}

// silent checks that two probes of a region were lost, and that nothing is said of it.
func (g *game) silent(name string, m measured) {
	g.check(m.rtt == 0 && m.sent == 2 && m.lost == 2 && len(m.receipts) == 0, "region %s: %+v", name, m)
}

// six is an address of IPv6 where this machine has one.
func six(ctx context.Context) string {
	const loopback = "[::1]:0"
	conn, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", loopback)
	if err != nil {
		return ""
	}
	_ = conn.Close()
	return loopback
}

// measures are how SDKs measure latencies. Sockets have the real time, so most rows do.
func measures() []Row {
	return []Row{
		{Name: "regions are measured, and the ticket has their receipts", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "eu"})
				g.open(ctx, &region{name: "us", address: six(ctx)})
				g.start(ctx)
				all := g.measure("wifi", 5, 2000)
				g.proven("eu", all["eu"])
				g.proven("us", all["us"])
				g.check(all["eu"].sent == 5 && all["eu"].lost == 0, "%+v", all["eu"])
				g.do("search", "queues", []string{"ranked"}, "measured", true)
				var got []string
				list, _ := g.waitForCalls(1, "create")[0].Body["receipts"].([]any)
				for _, r := range list {
					text, _ := r.(string)
					got = append(got, text)
				}
				want := slices.Concat(all["eu"].receipts, all["us"].receipts)
				g.check(slices.Equal(got, want), "the ticket has the receipts %q, and not %q", got, want)
				g.match()
			}},
		{Name: "latencies are kept for each network, half as long as receipts are believed", Needs: "measure", Scale: 0.05,
			play: func(ctx context.Context, g *game) {
				r := &region{name: "eu"}
				g.open(ctx, r)
				g.start(ctx)
				ask := func(network string, probes int) {
					g.measure(network, 1, 2000)
					g.check(len(r.probes()) == probes, "the region was asked %d times, and not %d", len(r.probes()), probes)
				}
				ask("wifi", 1)
				ask("wifi", 1)
				ask("mobile", 2)
				ask("wifi", 2)
				g.passes(21 * time.Second)
				ask("wifi", 3)
			}},
		{Name: "a region that is deaf is measured by HTTP, without the token", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "eu", day: deaf, url: g.service.URL + "/eu/"})
				g.start(ctx)
				eu := g.measure("wifi", 2, 500)["eu"]
				g.proven("eu", eu)
				g.check(eu.lost >= 2 && len(g.service.of("probe")) == 4, "%+v", eu)
			}},
		{Name: "a beacon's answer without end is not read on", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "eu", day: deaf, url: g.service.URL + "/eu/"})
				g.service.always("probe", g.service.huge)
				g.start(ctx)
				eu := g.measure("wifi", 1, 500)["eu"]
				g.check(eu.rtt == 0 && len(eu.receipts) == 0, "%+v", eu)
				for _, c := range g.service.of("probe") {
					g.check(c.Sent < 24<<20, "%d MiB were read", c.Sent>>20)
				}
			}},
		{Name: "regions that are nowhere, and more than 64: left out", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "eu"})
				g.nowhere()
				g.start(ctx)
				g.do("measure", "network", "wifi", "probes", 1, "timeout", 1000)
				list := listOf(g.expect("latencies"))
				g.check(len(list) == 64, "%d regions were measured", len(list))
				for i, one := range list {
					of, _ := one.(map[string]any)
					g.check((of["rtt"] != nil) == (i == 0), "region %d of 64: %v", i, of)
				}
			}},
		{Name: "regions of other shapes: an error or none of them, and then those that are", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "eu"})
				g.start(ctx)
				for _, body := range []string{`{"regions":[null],"receiptSeconds":40}`, `{"regions":[1],"receiptSeconds":40}`,
					`{"regions":null,"receiptSeconds":40}`, `{"regions":[],"receiptSeconds":"x"}`, `[]`, `null`, `{}`} {
					g.service.always("regions", answers(200, jsonHeader, body))
					g.do("measure", "network", body, "probes", 1, "timeout", 300)
					for _, one := range listOf(g.expect("latencies", "error")) {
						of, _ := one.(map[string]any)
						g.check(of["rtt"] == nil, "a region of %s: %v", body, of)
					}
				}
				g.service.always("regions", nil)
				g.proven("eu", g.measure("wifi", 1, 2000)["eu"])
			}},
		{Name: "deaf regions hold up no other one", Needs: "measure", Scale: 1, play: func(ctx context.Context, g *game) {
			first, last := &region{name: "a", day: deaf}, &region{name: "d"}
			for _, r := range []*region{first, {name: "b", day: deaf}, {name: "c", day: deaf}, last} {
				g.open(ctx, r)
			}
			g.start(ctx)
			all := g.measure("wifi", 2, 1000)
			g.proven("d", all["d"])
			g.silent("a", all["a"])
			a, d := first.probes(), last.probes()
			g.check(len(a) == 2 && len(d) == 2 && d[0].Before(a[1]), "the regions are measured one after another")
		}},
		{Name: "what a beacon did not answer is left out", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "eu", day: forged})
				g.start(ctx)
				eu := g.measure("wifi", 3, 2000)["eu"]
				g.proven("eu", eu)
				g.check(eu.sent == 3 && eu.lost == 0, "%+v", eu)
			}},
		{Name: "no receipt of another nonce, of garbage, or longer than the question", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "nonce", day: otherNonce})
				g.open(ctx, &region{name: "garbage", day: garbage})
				g.open(ctx, &region{name: "longer", day: longer})
				g.start(ctx)
				for name, m := range g.measure("wifi", 2, 300) {
					g.silent(name, m)
				}
			}},
		{Name: "other sources are measured, without receipts", Needs: "measure", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.open(ctx, &region{name: "p", protocol: "playfab"})
				g.open(ctx, &region{name: "e", protocol: "echo"})
				g.start(ctx)
				all := g.measure("wifi", 2, 2000)
				for _, name := range []string{"p", "e"} {
					m := all[name]
					g.check(m.rtt > 0 && m.sent == 2 && m.lost == 0 && len(m.receipts) == 0, "region %s: %+v", name, m)
				}
			}},
	}
}
