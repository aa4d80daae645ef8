package suite

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"time"
)

// parties are players that search together.
func parties() []Row {
	made := func(ctx context.Context, g *game) {
		g.start(ctx)
		g.do("party-create", "size", 5)
		p := g.expect("party")
		g.check(p.text("code") == "K3F9QX2TB" && p.text("leader") == player, "party is %v", p)
		g.waitForCalls(1, "party-events", "party-read")
	}
	return []Row{
		{Name: "a party by code, ready, and its match", Needs: "party", play: func(ctx context.Context, g *game) {
			g.start(ctx)
			g.do("party-join", "code", "K3F9QX2TB")
			p := g.expect("party")
			members, _ := p["members"].([]any)
			g.check(len(members) == 2, "party is %v", p)
			g.do("party-ready", "ready", true)
			g.check(g.waitForCalls(1, "member")[0].Body["ready"] == true, "the member is not ready")
			g.do("party-search", "queues", []string{"ranked"})
			g.expect("searching")
			g.match()
		}},
		{Name: "a code that there is not", Needs: "party", play: func(ctx context.Context, g *game) {
			g.start(ctx)
			g.do("party-join", "code", "WRONG")
			g.expectError("not_found")
		}},
		{Name: "a party's events twice and out of order", Needs: "party", play: func(ctx context.Context, g *game) {
			a := func(revision float64) string {
				p := maps.Clone(g.service.party)
				p["revision"] = revision
				return raw("r", "party", p)
			}
			g.service.makeParty("party-created")
			g.service.always("party-events", sends(a(3), a(3), a(2), a(4), a(1),
				raw("ended", "ended", map[string]any{"id": "p", "reason": "disbanded"})))
			g.start(ctx)
			g.do("party-create", "size", 5)
			g.expect("left")
			last := 0.0
			g.settled()
			for _, e := range g.all() {
				if revision, is := e["revision"].(float64); is {
					g.check(revision > last, "revision %v came behind %v", revision, last)
					last = revision
				}
			}
			g.check(last == 4, "the last revision is %v", last)
		}},
		{Name: "kicked from a party", Needs: "party", Scale: 1, play: func(ctx context.Context, g *game) {
			made(ctx, g)
			g.service.change(func() { g.service.left = "kicked" })
			l := g.expect("left")
			g.check(l.text("reason") == "kicked", "left is %v", l)
		}},
		{Name: "a party is left", Needs: "party", play: func(ctx context.Context, g *game) {
			made(ctx, g)
			g.do("party-leave")
			l := g.expect("left")
			g.check(l.text("reason") == "left" && len(g.service.of("leave")) == 1, "left is %v", l)
		}},
		{Name: "a player's id of half a character: U+FFFD in a path", Needs: "party",
			play: func(ctx context.Context, g *game) {
				made(ctx, g)
				g.do("party-kick", "player", json.RawMessage(`"b\udc00\ud83d\ude00"`))
				path, err := url.PathUnescape(g.waitForCalls(1, "leave")[0].RequestURI)
				g.check(err == nil && strings.HasSuffix(path, "/members/b\ufffd\U0001F600"), "%q was kicked", path)
			}},
		{Name: "acting for a player whose id has half a character: U+FFFD in a header", Needs: "acts",
			play: func(ctx context.Context, g *game) {
				g.more = map[string]any{"for": json.RawMessage(`"a\ud800"`)}
				made(ctx, g)
				g.do("party-kick", "player", "b")
				g.waitForCalls(1, "leave")
				for _, c := range g.service.of("party-create", "leave") {
					name, err := url.PathUnescape(strings.TrimPrefix(c.Header.Get("X-On-Behalf-Of"), "UTF-8''"))
					g.check(err == nil && name == "a\ufffd", "%s acts for %q", c.Kind, name)
				}
			}},
	}
}

// servers are game servers.
func servers() []Row {
	filling := func(ctx context.Context, g *game) {
		g.start(ctx)
		g.do("fill", "connection", "203.0.113.7:7777", "open", 3)
		g.waitForCalls(2, "approve")
	}
	refused := func(pass func(g *game) string) func(context.Context, *game) {
		return func(ctx context.Context, g *game) {
			g.start(ctx)
			g.do("seat", "pass", pass(g))
			s := g.expect("seat")
			g.check(s["ok"] == false, "the pass is taken")
		}
	}
	return []Row{
		{Name: "a running game is filled: who joins is told once", Needs: "server", Scale: 0.5,
			play: func(ctx context.Context, g *game) {
				filling(ctx, g)
				g.service.change(func() { g.service.proposed = []string{"t1"} })
				g.expect("joined")
				g.waitForCalls(len(g.service.of("approve"))+3, "approve")
				g.check(g.count("joined") == 1, "it was told %d times", g.count("joined"))
			}},
		{Name: "approvals come once a second", Needs: "server", Scale: 0.2, play: func(ctx context.Context, g *game) {
			filling(ctx, g)
			calls := g.waitForCalls(5, "approve")
			for n := 1; n < 5; n++ {
				g.waited(calls, n, 900*time.Millisecond)
			}
		}},
		{Name: "a running game has other places", Needs: "server", play: func(ctx context.Context, g *game) {
			filling(ctx, g)
			g.do("fill", "connection", "203.0.113.7:7777", "open", 2)
			change := g.waitForCalls(1, "fill-change")[0]
			attributes, _ := change.Body["attributes"].(map[string]any)
			g.check(attributes["open"] == 2.0, "the game has %v", attributes)
		}},
		{Name: "the service has lost the game: it is told again", Needs: "server", play: func(ctx context.Context, g *game) {
			filling(ctx, g)
			g.service.change(func() { g.service.gone = true })
			g.waitForCalls(2, "fill")
		}},
		{Name: "a game takes no more players", Needs: "server", play: func(ctx context.Context, g *game) {
			filling(ctx, g)
			g.do("fill-end")
			g.waitForCalls(1, "fill-end")
		}},
		{Name: "a seat pass", Needs: "seats", play: func(ctx context.Context, g *game) {
			g.start(ctx)
			g.do("seat", "pass", g.service.pass(g.service.key, nil))
			s := g.expect("seat")
			g.check(s["ok"] == true && s.text("player") == player && s.text("ticket") == "t1", "seat is %v", s)
		}},
		{Name: "a seat pass for another match", Needs: "seats", play: refused(func(g *game) string {
			return g.service.pass(g.service.key, map[string]any{"match": "m2"})
		})},
		{Name: "a seat pass that has ended", Needs: "seats", play: refused(func(g *game) string {
			return g.service.pass(g.service.key, map[string]any{"exp": g.now().Unix() - 120})
		})},
		{Name: "a seat pass that is forged", Needs: "seats", play: refused(func(g *game) string {
			return g.service.pass(otherKey(), nil)
		})},
	}
}
