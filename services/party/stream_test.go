package party_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
	"matchmaker.dev/services/party"
)

// followed is a stream as a member sees it.
type followed struct {
	*http.Response
	lines *bufio.Scanner
	t     *testing.T
}

// follow opens a stream of a party's events for a player, at a replica.
func (w *world) follow(player, id string, replica int, headers ...string) *followed {
	w.t.Helper()
	return w.followAs(issuer.Claims{Kind: auth.Player, Subject: player}, id, replica, headers...)
}

// followAs is follow with a token of some claims.
func (w *world) followAs(c issuer.Claims, id string, replica int, headers ...string) *followed {
	w.t.Helper()
	c.Project = "demo"
	token, err := w.tokens.Mint(c)
	must(w.t, err)
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	w.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.urls[replica]+"/"+id+"/events", http.NoBody)
	must(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	w.t.Cleanup(func() { _ = res.Body.Close() })
	return &followed{res, bufio.NewScanner(res.Body), w.t}
}

// sent is an event.
type sent struct{ id, event, data, retry string }

// next is the next event, without heartbeats; a zero one at the end.
func (f *followed) next() (e sent) {
	f.t.Helper()
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.event = value
		case "data":
			e.data = value
		case "retry":
			e.retry = value
		case "":
			if e != (sent{}) {
				return e
			}
		}
	}
	must(f.t, f.lines.Err())
	return e
}

// expect wants the next event but retries.
func (f *followed) expect(event string) sent {
	f.t.Helper()
	e := f.next()
	for e.event == "" && e.retry != "" {
		e = f.next()
	}
	if e.event != event {
		f.t.Fatalf("got %+v, want the event %s", e, event)
	}
	return e
}

// party wants a party next, whose revision is the id of the event.
func (f *followed) party() (p shown) {
	f.t.Helper()
	e := f.expect("party")
	must(f.t, json.Unmarshal([]byte(e.data), &p))
	if e.id != strconv.Itoa(p.Revision) {
		f.t.Errorf("the event of revision %d has the id %s", p.Revision, e.id)
	}
	return p
}

// ends wants the end of the party and of the stream.
func (f *followed) ends(id, reason string) {
	f.t.Helper()
	if e := f.expect("ended"); e.data != `{"id":"`+id+`","reason":"`+reason+`"}` {
		f.t.Errorf("got %+v, want the reason %s", e, reason)
	}
	f.closes()
}

// closes wants no further event.
func (f *followed) closes() {
	f.t.Helper()
	if e := f.next(); e != (sent{}) {
		f.t.Errorf("got %+v, want the end of the stream", e)
	}
}

// A stream tells what a GET answers to the member, at first and whenever the party changes.
func TestStreamTellsOfChanges(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob")
	f := w.follow("ada", p.ID, 0)
	if f.StatusCode != http.StatusOK || f.Header.Get("Content-Type") != "text/event-stream" ||
		f.Header.Get("Cache-Control") != "no-store" || f.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("got %d %v", f.StatusCode, f.Header)
	}
	if e := f.next(); e.retry == "" {
		t.Errorf("a stream begins with %+v, want a retry", e)
	}
	for _, step := range []func(){
		func() {},
		func() { w.do("bob", "PUT", "/"+p.ID+"/members/bob", `{"ready":false}`) },
		func() { w.do("bob", "PUT", "/"+p.ID+"/members/bob", `{"ready":true}`) },
		func() { w.do("ada", "PUT", "/"+p.ID+"/search", `{}`) },
		func() { w.do("ada", "DELETE", "/"+p.ID+"/search", "") },
		func() { w.do("ada", "POST", "/"+p.ID+"/code", "") },
		func() { w.do("ada", "PUT", "/"+p.ID+"/leader", `{"player":"bob"}`) },
	} {
		step()
		e := f.expect("party")
		if read := w.text("ada", "/"+p.ID); e.data != read {
			t.Errorf("the stream tells %s, a GET %s", e.data, read)
		}
	}
	w.do("eve", "POST", "/members", `{"code":"`+w.do("ada", "GET", "/"+p.ID, "").Code+`"}`)
	if p := f.party(); p.players() != "ada bob eve" {
		t.Errorf("got %+v", p)
	}
}

// text is what a GET answers to a player.
func (w *world) text(player, path string) string {
	w.t.Helper()
	token, err := w.tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: player, Project: "demo"})
	must(w.t, err)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.urls[0]+path, http.NoBody)
	must(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer func() { must(w.t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	must(w.t, err)
	return string(text)
}

// Members see attributes and properties of their own alone.
func TestStreamsKeepWhatIsPrivate(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob")
	for n, player := range []string{"ada", "bob"} {
		f := w.follow(player, p.ID, n)
		f.party()
		w.do(player, "PUT", "/"+p.ID+"/members/"+player, `{"attributes":{"skill":7},"properties":{"hat":"YQ=="}}`)
		now := f.party()
		own, other := now.Members[n], now.Members[1-n]
		if own.Attributes["skill"] != 7 || own.Properties["hat"] == nil ||
			other.Attributes != nil || other.Properties != nil {
			t.Errorf("%s sees %+v", player, now)
		}
	}
	// A game service sees what the player sees.
	lobby := issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct}
	now := w.followAs(lobby, p.ID, 0, auth.OnBehalfOf, "bob").party()
	if now.Members[0].Attributes != nil || now.Members[1].Attributes["skill"] != 7 {
		t.Errorf("the lobby sees %+v", now)
	}
}

func TestStreamGoesOnFromTheLastEvent(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob")
	known := w.follow("ada", p.ID, 0).expect("party").id
	f := w.follow("ada", p.ID, 1, "Last-Event-ID", known)
	w.do("bob", "PUT", "/"+p.ID+"/members/bob", `{"ready":false}`)
	changed := f.party()
	if changed.Revision <= p.Revision { // and nothing before it
		t.Errorf("got %+v", changed)
	}
	if now := w.follow("ada", p.ID, 0, "Last-Event-ID", known).party(); now.Revision != changed.Revision {
		t.Errorf("who missed a change gets %+v", now)
	}
}

func TestStreamSaysWhyAPartyIsGone(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob", "eve", "zoe")
	streams := map[string]*followed{}
	for n, player := range []string{"ada", "bob", "eve", "zoe"} {
		streams[player] = w.follow(player, p.ID, n%2)
		streams[player].party()
	}
	rest := func(players ...string) {
		t.Helper()
		for _, player := range players {
			if now := streams[player].party(); now.players() != strings.Join(players, " ") {
				t.Errorf("%s sees %s", player, now.players())
			}
		}
	}
	w.do("bob", "DELETE", "/"+p.ID+"/members/bob", "")
	streams["bob"].ends(p.ID, "left")
	rest("ada", "eve", "zoe")
	w.do("ada", "DELETE", "/"+p.ID+"/members/eve", "")
	streams["eve"].ends(p.ID, "kicked")
	rest("ada", "zoe")
	w.do("ada", "DELETE", "/"+p.ID, "")
	streams["ada"].ends(p.ID, "disbanded")
	streams["zoe"].ends(p.ID, "disbanded")
	if again := w.follow("zoe", p.ID, 0, "Last-Event-ID", "ended"); again.StatusCode != http.StatusNotFound {
		t.Errorf("who comes back gets %d, want 404", again.StatusCode)
	}
	// The last member's leave ends the party, with the reason left.
	p = w.party("ada")
	f := w.follow("ada", p.ID, 1)
	f.party()
	w.do("ada", "DELETE", "/"+p.ID+"/members/ada", "")
	f.ends(p.ID, "left")
	// An erased member has left.
	p = w.party("ada")
	f = w.follow("ada", p.ID, 0)
	f.party()
	if status, text := w.player(owner(), "DELETE", "ada"); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	f.ends(p.ID, "left")
}

// A stream is a sign of life as long as it is open, and no longer.
func TestStreamIsASignOfLife(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *party.Settings) { s.Silence = 3 * time.Second })
	p := w.party("ada", "bob", "eve")
	ada, bob := w.follow("ada", p.ID, 0), w.follow("bob", p.ID, 1)
	ada.party()
	bob.party()
	if now := ada.party(); now.players() != "ada bob" { // eve was silent, and the others were as long as she
		t.Errorf("the members are %s", now.players())
	}
	must(t, bob.Body.Close())
	if now := ada.party(); now.players() != "ada" {
		t.Errorf("the members are %s", now.players())
	}
}

// A member without a noted sign of life is silent, whatever it follows. Here the first replica notes nothing, and the
// other one looks for silent members.
func TestStreamSaysWhoWasSilent(t *testing.T) {
	t.Parallel()
	times := []time.Duration{time.Hour, 3 * time.Second}
	w := start(t, func(s *party.Settings) { s.Silence, times = times[0], times[1:] })
	other := &world{t: t, urls: [2]string{w.urls[1], w.urls[1]}, tokens: w.tokens, store: w.store}
	p := other.party("ada", "bob")
	f := w.follow("ada", p.ID, 0)
	f.party()
	f.ends(p.ID, "silent")
}

func TestStreamsThatAreRefused(t *testing.T) {
	meter, measured := telemetrytest.New()
	w := startAt(t, nil, func(o *party.Options) { o.Streams.PerPlayer, o.Meter = 2, meter })
	p := w.party("ada", "bob")
	for accept, want := range map[string]int{
		"application/json": 406, "text/event-stream;q=0": 406, "text/event-stream": 200, "*/*": 200, "": 200,
	} {
		res := w.from("", http.MethodHead, w.urls[0]+"/"+p.ID+"/events", "Accept", accept)
		if res.StatusCode != want || want == 200 && res.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("Accept %q: got %d %v, want %d", accept, res.StatusCode, res.Header, want)
		}
	}
	for player, id := range map[string]string{"mallory": p.ID, "ada": "nothing"} {
		f := w.follow(player, id, 0)
		if text, err := io.ReadAll(f.Body); f.StatusCode != http.StatusNotFound || err != nil ||
			!strings.Contains(string(text), "was not found") {
			t.Errorf("%s gets %d %s, %v, want 404", player, f.StatusCode, text, err)
		}
	}
	w.follow("ada", p.ID, 0).party()
	second := w.follow("ada", p.ID, 0)
	second.party()
	f := w.follow("ada", p.ID, 0)
	text, err := io.ReadAll(f.Body)
	must(t, err)
	if f.StatusCode != http.StatusTooManyRequests || f.Header.Get("Retry-After") == "" ||
		!strings.Contains(string(text), "too many streams") {
		t.Errorf("got %d %s, want 429", f.StatusCode, text)
	}
	w.follow("bob", p.ID, 0).party() // the limit is each player's own
	if open, refused := measured.Value(t, "matchmaker.parties.streams"),
		measured.Value(t, "matchmaker.parties.streams.refused"); open != 3 || refused != 1 {
		t.Errorf("%v streams are counted, and %v that were refused", open, refused)
	}
	must(t, second.Body.Close())
	for deadline := time.Now().Add(time.Minute); ; {
		if f := w.follow("ada", p.ID, 0); f.StatusCode == http.StatusOK {
			return // there is a place again
		}
		if time.Now().After(deadline) {
			t.Fatal("a stream that has ended keeps its place")
		}
	}
}

// A stream ends with the token, and the client comes back with another one.
func TestStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := start(t, defaults)
	p := w.party("ada")
	f := w.followAs(issuer.Claims{Kind: auth.Player, Subject: "ada", TTL: 3 * time.Second}, p.ID, 0)
	f.party()
	if e := f.expect("reconnect"); e.data != `{"reason":"token"}` {
		t.Errorf("got %+v", e)
	}
	f.closes()
}

func TestStreamSendsHeartbeats(t *testing.T) {
	t.Parallel()
	w := startAt(t, nil, func(o *party.Options) { o.Streams.Heartbeat = time.Second })
	f := w.follow("ada", w.party("ada").ID, 0)
	f.party()
	for beats := 0; beats < 2 && f.lines.Scan(); {
		if f.lines.Text() == ":" {
			beats++
		}
	}
	must(t, f.lines.Err())
}

// A process that stops ends its streams at once, and their clients come back at different times. It begins no more.
func TestStreamsOfAProcessThatStops(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada")
	var open []*followed
	for range 4 {
		f := w.follow("ada", p.ID, 0)
		f.party()
		open = append(open, f)
	}
	w.parts[0].OnShutdown()
	var retries []string
	for _, f := range open {
		retries = append(retries, f.next().retry)
		if e := f.expect("reconnect"); e.data != `{"reason":"shutdown"}` {
			t.Errorf("got %+v", e)
		}
		f.closes()
	}
	if slices.Contains(retries, "") || len(slices.Compact(retries)) < 2 {
		t.Errorf("the clients are to come back after %v ms", retries)
	}
	w.follow("ada", p.ID, 1).party() // another replica serves
}
