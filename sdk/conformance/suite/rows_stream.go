package suite

import (
	"context"
	"time"
)

// streamsBroken are streams that break, lie and stop.
func streamsBroken() []Row {
	const id = "0192f3c0-7d7a-7c53-a0f4-000000000001"
	return []Row{
		{Name: "a stream that is cut in an event is opened again, behind the last one", Needs: "player", Scale: 0.1,
			play: func(ctx context.Context, g *game) {
				waiting := g.service.message("waiting", map[string]any{"id": id})
				g.service.on("events", streams("retry: 2000\n\n", waiting, `id: assigned`+"\nevent: assigned\ndata: {\"id\":"))
				g.search(ctx)
				calls := g.waitForCalls(2, "events")
				g.waited(calls, 1, time.Second)
				g.check(calls[1].Header.Get("Last-Event-ID") == "waiting", "Last-Event-ID is %q",
					calls[1].Header.Get("Last-Event-ID"))
				g.match()
			}},
		{Name: "a gap in the events", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.on("events", streams("retry: 1000\n\n", g.service.message("waiting", map[string]any{"id": id})))
			g.search(ctx)
			g.expect("searching")
			g.match() // offered, accepted and matched meanwhile
			g.settled()
			g.check(g.count("offered")+g.count("error") == 0, "there were other events")
		}},
		{Name: "events come twice", Needs: "player", Scale: 0.2, play: func(ctx context.Context, g *game) {
			g.service.always("read", g.service.assigned)
			var texts []string
			for _, kind := range []string{"waiting", "acceptance", "assigned"} {
				text := g.service.message(kind, map[string]any{"id": id})
				texts = append(texts, text, text)
			}
			g.service.on("events", sends(texts...))
			g.service.always("events", sends(texts...))
			g.search(ctx)
			g.expect("matched")
			g.settled()
			for _, kind := range []string{"searching", "offered", "matched"} {
				g.check(g.count(kind) == 1, "%s came %d times", kind, g.count(kind))
			}
		}},
		{Name: "events come out of order", Needs: "player", Scale: 0.2, play: func(ctx context.Context, g *game) {
			g.service.always("read", g.service.assigned)
			m := func(kind string) string { return g.service.message(kind, map[string]any{"id": id}) }
			g.service.always("events", sends(m("matched"), m("waiting"), m("assigned"), m("acceptance"),
				m("waiting"), m("ended")))
			g.search(ctx)
			g.expect("matched")
			g.settled()
			g.check(g.count("offered")+g.count("failed")+g.count("error") == 0, "there were events behind the end")
		}},
		{Name: "unknown events and members", Needs: "player", Scale: 0.2, play: func(ctx context.Context, g *game) {
			g.service.always("read", g.service.assigned)
			g.service.on("create", answers(201, map[string]string{"Content-Type": "application/json"},
				`{"id":"`+id+`","status":null,"unheardOf":{"a":[1]}}`))
			g.service.change(func() { g.service.tickets[id] = &ticket{id: id, state: "waiting"} })
			g.service.always("events", sends(raw("", "unheardOf", map[string]any{"id": 5}),
				"event: unheardOf\ndata: no JSON\n\n", "unheardOf: yes\n\n", ": a comment\n\n", "data: {}\n\n",
				g.service.message("assigned", map[string]any{"id": id, "unheardOf": []any{1, "\u2028"}})))
			g.search(ctx)
			g.expect("matched")
		}},
		{Name: "a stream that falls silent is given up", Needs: "player", Scale: 0.02,
			play: func(ctx context.Context, g *game) {
				g.service.on("events", silent(g.service.message("waiting", map[string]any{"id": id})))
				g.search(ctx)
				g.waitForCalls(2, "events", "read")
				g.match()
			}},
		{Name: "a proxy keeps the stream back: long polls", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("events", silent(": "))
			g.search(ctx)
			g.polls()
		}},
		{Name: "a proxy keeps even the header back: long polls", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("events", silent(""))
			g.search(ctx)
			g.polls()
		}},
		{Name: "there is no stream: long polls", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("events", answers(405, nil, ""))
			g.search(ctx)
			g.polls()
		}},
		{Name: "long polls tell of a match that asks", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("events", answers(405, nil, ""))
			g.search(ctx)
			g.waitForCalls(1, "read")
			g.service.set("offered", "")
			g.expect("offered")
			g.do("accept")
			g.expect("matched")
		}},
		{Name: "a service that holds no requests is not asked at once again", Needs: "player", Scale: 1,
			play: func(ctx context.Context, g *game) {
				g.service.always("events", answers(405, nil, ""))
				g.service.always("read", g.service.atOnce)
				g.search(ctx)
				// The third pause is about two seconds from when the request was sent, which is a while before it is here.
				g.waited(g.waitForCalls(4, "read"), 3, 800*time.Millisecond)
				g.match()
			}},
	}
}

// polls expects a request that is held, and ends it with the match.
func (g *game) polls() {
	read := g.waitForCalls(1, "read")[0]
	g.check(contains(read.Header.Get("Prefer"), "wait="), "the read is not held: Prefer is %q", read.Header.Get("Prefer"))
	g.match()
}
