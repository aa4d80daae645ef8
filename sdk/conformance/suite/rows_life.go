package suite

import (
	"context"
	"net/http"
	"strings"
	"time"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// assigned gives the ticket its match before the service answers.
func (s *service) assigned(http.ResponseWriter, *call) bool {
	s.set("assigned", "")
	return true
}

// atOnce is a service that knows no Prefer.
func (s *service) atOnce(_ http.ResponseWriter, c *call) bool {
	c.Header.Del("Prefer")
	return true
}

// expires makes the first token invalid before the service answers.
func (s *service) expires(_ http.ResponseWriter, c *call) bool {
	s.change(func() { s.refuse[c.token()] = true })
	return true
}

// tokens are tokens that end, and clocks that are wrong.
func tokens() []Row {
	wrong := func(by time.Duration) func(context.Context, *game) {
		return func(ctx context.Context, g *game) {
			g.clock = by
			g.following(ctx)
			g.match()
			g.check(g.count("token") == 1, "%d tokens were asked for", g.count("token"))
		}
	}
	return []Row{
		{Name: "401: another token, and once more", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.on("create", g.service.expires)
			g.search(ctx)
			g.waitForCalls(1, "events", "read")
			g.match()
			g.check(g.count("token") == 2, "%d tokens were asked for", g.count("token"))
			g.check(len(g.service.of("create")) == 2, "the create was sent %d times", len(g.service.of("create")))
			g.one()
		}},
		{Name: "401 to a stream", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.on("events", g.service.expires)
			g.search(ctx)
			g.waitForCalls(2, "events", "read")
			g.match()
			g.check(g.count("token") == 2, "%d tokens were asked for", g.count("token"))
		}},
		{Name: "401 to every token: an error, and no more requests", Needs: "player", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.service.always("create", g.service.expires)
				g.search(ctx)
				g.expectError("token")
				g.check(len(g.service.of("create")) == 2, "the create was sent %d times", len(g.service.of("create")))
			}},
		{Name: "a token is replaced before it ends", Needs: "player", Scale: 0.02, play: func(ctx context.Context, g *game) {
			g.tokens = func(n int) map[string]any { return g.token(time.Minute) }
			g.following(ctx)
			g.passes(50 * time.Second)
			// The service ends a stream when its token does.
			before := len(g.service.of("events", "read"))
			g.service.CloseClientConnections()
			calls := g.waitForCalls(before+1, "events", "read")
			g.check(calls[before].token() != g.waitForCalls(1, "create")[0].token(), "the old token was sent")
			g.match()
		}},
		{Name: "there is no token: an error, and no request", Needs: "player", play: func(ctx context.Context, g *game) {
			g.tokens = func(int) map[string]any { return map[string]any{"error": "secret reason"} }
			g.search(ctx)
			g.expectError("token")
			g.check(len(g.service.of()) == 0, "%d requests were sent", len(g.service.of()))
		}},
		{Name: "the clock is an hour fast", Needs: "player", play: wrong(time.Hour + time.Minute)},
		{Name: "the clock is an hour slow", Needs: "player", play: wrong(-time.Hour - time.Minute)},
	}
}

// lives are apps that sleep and crash.
func lives() []Row {
	asleep := func(ctx context.Context, g *game, state, why string) {
		g.following(ctx)
		g.do("suspend")
		g.until("the end of all requests", func() bool {
			for _, c := range g.service.of() {
				if c.Ended.IsZero() {
					return false
				}
			}
			return true
		})
		before := len(g.service.of())
		g.service.set(state, why)
		g.passes(8 * time.Second)
		g.check(len(g.service.of()) == before, "a suspended SDK sends requests")
		g.do("resume")
	}
	return []Row{
		{Name: "suspended, and matched meanwhile", Needs: "player", play: func(ctx context.Context, g *game) {
			asleep(ctx, g, "assigned", "")
			g.expect("matched")
		}},
		{Name: "suspended, and the ticket ended meanwhile", Needs: "player", play: func(ctx context.Context, g *game) {
			asleep(ctx, g, "ended", "unheard")
			g.expect("failed")
		}},
		{Name: "a crash before the create was answered: the same ticket", Needs: "player",
			play: func(ctx context.Context, g *game) {
				g.service.on("create", func(w http.ResponseWriter, c *call) bool {
					g.service.answer(&keeper{header: http.Header{}}, c)
					return silent("")(w, c)
				})
				g.search(ctx)
				g.waitForCalls(1, "create")
				g.until("the ticket", func() bool {
					g.service.mu.Lock()
					defer g.service.mu.Unlock()
					return len(g.service.tickets) == 1
				})
				g.kill()
				g.start(ctx)
				g.do("restore")
				g.match()
				g.one()
			}},
		{Name: "a crash while the ticket waits: the same ticket", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.kill()
			before := len(g.service.of("events", "read"))
			g.start(ctx)
			g.do("restore")
			g.waitForCalls(before+1, "events", "read")
			g.match()
			g.one()
		}},
		{Name: "nothing to go on with", Needs: "player", play: func(ctx context.Context, g *game) {
			g.start(ctx)
			g.do("restore")
			g.expect("idle")
			g.check(len(g.service.of("create")) == 0, "a ticket was created")
		}},
		{Name: "nothing to go on with after a cancel", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.do("cancel")
			g.expect("cancelled")
			g.settled()
			g.kill()
			g.start(ctx)
			g.do("restore")
			g.expect("idle")
		}},
	}
}

// nonsense is what proxies, portals and others answer.
func nonsense() []Row {
	page := "<html><body>secret page at http://127.0.0.1</body></html>"
	html := map[string]string{"Content-Type": "text/html"}
	goOn := func(ctx context.Context, g *game) {
		g.kill()
		g.start(ctx)
		g.do("restore")
		g.match()
		g.one()
	}
	rows := []Row{
		{Name: "a page with 502: repeated, then busy", Needs: "player", Scale: 0.02,
			play: func(ctx context.Context, g *game) {
				g.service.always("create", answers(502, html, page))
				g.service.always("find", answers(502, html, page))
				g.search(ctx)
				g.expectError("busy")
				g.bounded("create")
			}},
		{Name: "a page with 502 once", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.on("create", answers(502, html, page))
			g.search(ctx)
			g.waitForCalls(1, "events", "read")
			g.match()
			g.one()
		}},
		{Name: "a page with 404 to a read is no end: an error, and the same ticket after a crash", Needs: "player",
			play: func(ctx context.Context, g *game) {
				g.following(ctx)
				kinds := []string{"events", "read"}
				for _, kind := range kinds {
					g.service.always(kind, answers(404, html, page))
				}
				g.service.CloseClientConnections()
				g.expectError("not_found")
				for _, kind := range kinds {
					g.service.always(kind, nil)
				}
				goOn(ctx, g)
			}},
		{Name: "a page with 404 to a cancel: an error, and the same ticket after a crash", Needs: "player",
			play: func(ctx context.Context, g *game) {
				g.following(ctx)
				g.service.on("delete", answers(404, html, page))
				g.do("cancel")
				g.expectError("not_found")
				goOn(ctx, g)
			}},
		{Name: "a page with 200", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("create", answers(200, html, page))
			g.service.always("find", answers(200, html, page))
			g.search(ctx)
			g.expectError("unexpected")
		}},
		{Name: "a redirect is not followed", Needs: "redirects", play: func(ctx context.Context, g *game) {
			g.service.always("create", answers(307, map[string]string{"Location": g.service.URL + base + "v1/parties"}, ""))
			g.search(ctx)
			g.expectError("unexpected")
			g.check(len(g.service.of("party-create")) == 0, "it was followed")
		}},
		{Name: "a redirect: an error, and no token for another host", Needs: "player", play: redirected},
		{Name: "a body without end is not read on", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("create", g.service.huge)
			g.search(ctx)
			g.expectError("unexpected")
			for _, c := range g.service.of("create") {
				g.check(c.Sent < 24<<20, "%d MiB were read", c.Sent>>20) // with what the kernel keeps
			}
		}},
		{Name: "an event without end is not read on", Needs: "player", Scale: 1, play: func(ctx context.Context, g *game) {
			g.service.always("events", func(w http.ResponseWriter, c *call) bool {
				open(w, "event: assigned\ndata: ")
				return g.service.huge(w, c)
			})
			g.search(ctx)
			g.waitForCalls(1, "events")
			g.until("the end of the stream", func() bool { return !g.service.of("events")[0].Ended.IsZero() })
			for _, c := range g.service.of("events") {
				g.check(c.Sent < 24<<20, "%d MiB were read", c.Sent>>20)
			}
		}},
	}
	rows = append(rows, hostile()...)
	for _, of := range []struct {
		status int
		code   string
	}{{400, "invalid"}, {403, "forbidden"}, {409, "conflict"}, {413, "invalid"}, {422, "invalid"}} {
		rows = append(rows, Row{Name: http.StatusText(of.status) + ": " + of.code + ", at once", Needs: "player", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.service.always("create", answers(of.status, nil, ""))
				g.search(ctx)
				g.expectError(of.code)
				g.check(len(g.service.of("create")) == 1, "it was repeated")
			}})
	}
	return rows
}
