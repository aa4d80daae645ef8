package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
)

// lobby is a party service, and the shell to work with it.
type lobby struct {
	*shell
	url   string
	store *state.Store
}

func newLobby(t *testing.T) *lobby {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	l := &lobby{shell: newShell(t), store: embeddedtest.Store(t, state.Options{})}
	talk := embeddedtest.Bus(t, bus.Options{})
	log := slog.New(slog.DiscardHandler)
	tokens, err := issuer.Open(l.data, time.Now)
	must(err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{tokens.Trust()}, Log: log})
	must(err)
	part := party.New(party.Options{
		Store: l.store, Bus: talk, Verifier: verifier, Log: log, Now: time.Now, Wait: 20 * time.Second,
		Settings: settings.Default[party.Settings](), Streams: settings.Default[stream.Settings](),
		Fields: fields.Limits{Attributes: 64, Properties: 64, Players: 64, Name: 128},
	})
	e := web.New(log, web.Options{})
	part.Routes(e)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- part.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		must(<-ended)
	})
	server := httptest.NewServer(openapitest.Handler(t, e))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// party runs a command of mm party as a player.
func (l *lobby) party(player, command string, args ...string) result {
	l.t.Helper()
	return l.run(l.line(player, command, args...)...)
}

func (l *lobby) line(player, command string, args ...string) []string {
	line := append([]string{"party", command, "--player", player, "--url", l.url, "--data", l.data}, args...)
	return append(line, "--timeout", "5m")
}

// read runs a command that must print a party as JSON.
func (l *lobby) read(player, command string, args ...string) (p client.Party) {
	l.t.Helper()
	got := l.party(player, command, append(args, "-o", "json")...)
	got.expect(0, "{", "")
	if err := json.Unmarshal([]byte(got.out), &p); err != nil {
		l.t.Fatalf("%s %s: %v", command, args, err)
	}
	return p
}

// made is a party of players; the first leads.
func (l *lobby) made(players ...string) client.Party {
	l.t.Helper()
	p := l.read(players[0], "create", "--attribute", "skill=1200")
	for _, player := range players[1:] {
		p = l.read(player, "join", p.Code)
	}
	return p
}

// refused checks that a command fails with one line that says why, and what to do.
func (l *lobby) refused(code int, got result, texts ...string) {
	l.t.Helper()
	got.expect(code, "", "mm: ")
	if strings.Count(got.err, "\n") != 1 {
		l.t.Errorf("want one line, got %q", got.err)
	}
	for _, text := range texts {
		if !strings.Contains(got.err, text) {
			l.t.Errorf("%q does not say %q", got.err, text)
		}
	}
}

// table is what a command printed, with one space between its columns.
func (r result) table() string {
	lines := strings.Split(r.out, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func memberIDs(p client.Party) (ids []string) {
	for _, m := range p.Members {
		ids = append(ids, m.ID)
	}
	return ids
}

// waiting is how many tickets wait.
func (l *lobby) waiting() int64 {
	l.t.Helper()
	n, err := l.store.Waiting(l.t.Context(), "demo")
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

func TestPartyIsUpdatedAndSearches(t *testing.T) {
	l := newLobby(t)
	p := l.made("ada", "bob")
	got := l.party("bob", "get")
	for _, row := range []string{
		"party " + p.ID, "code " + p.Code, "MEMBER JOINED READY", "UTC yes leader\nbob ", "UTC yes\n",
	} {
		if !strings.Contains(got.table(), row) {
			t.Errorf("no %q in\n%s", row, got.out)
		}
	}
	got = l.party("bob", "update", "--not-ready")
	if got.expect(0, "bob", ""); !strings.Contains(got.table(), "UTC no\n") {
		t.Errorf("bob is ready:\n%s", got.out)
	}
	l.refused(1, l.party("ada", "start"), `player "bob" is not ready`)
	p = l.read("bob", "update", "--attribute", "skill=900", "--property", "hat=red")
	if bob := p.Members[1]; !bob.Ready || bob.Attributes["skill"] != 900 || string(bob.Properties["hat"]) != "red" {
		t.Errorf("%+v", bob)
	}
	if p = l.read("bob", "update"); len(p.Members[1].Attributes)+len(p.Members[1].Properties) > 0 {
		t.Errorf("an update keeps %+v", p.Members[1])
	}

	l.refused(1, l.party("bob", "start"), `only the leader does this: that is player "ada"`)
	p = l.read("ada", "start", "--attribute", "mode=2")
	if p.Search == nil || l.waiting() != 1 {
		t.Fatalf("%+v, %d tickets wait", p.Search, l.waiting())
	}
	got = l.party("bob", "get")
	for _, row := range []string{"ticket " + p.Search.Ticket + "\n", "searching since 2"} {
		if !strings.Contains(got.table(), row) {
			t.Errorf("no %q in\n%s", row, got.out)
		}
	}
	l.refused(1, l.party("bob", "stop"), `only the leader does this: that is player "ada"`)
	if p = l.read("ada", "stop"); p.Search != nil || l.waiting() != 0 {
		t.Errorf("%+v, %d tickets wait", p.Search, l.waiting())
	}
	if got = l.party("ada", "stop"); got.code != 0 || strings.Contains(got.out, "ticket") {
		t.Errorf("a second stop: %d %s%s", got.code, got.out, got.err)
	}
}

func TestPartyMembersLeaveAndAreKicked(t *testing.T) {
	l := newLobby(t)
	p := l.made("ada", "bob", "eve", "zoe")
	l.party("zoe", "leave").expect(0, "left  "+p.ID+"\n", "")
	l.refused(1, l.party("zoe", "join", p.Code), "no party can be joined with it") // the code was left with her
	p = l.read("ada", "get")
	l.party("zoe", "join", p.Code).expect(0, "zoe", "")
	l.party("zoe", "leave", "-o", "json").expect(0, `"left": "`+p.ID+`"`, "")
	l.party("zoe", "leave").expect(0, "", "mm: there is no party of player zoe: nothing was deleted\n")

	l.refused(1, l.party("bob", "kick", "eve"), `only the leader does this: that is player "ada"`)
	l.refused(1, l.party("ada", "kick", "zoe"), `player "zoe" is no member`)
	l.refused(2, l.party("ada", "kick", ""), `<member>: an empty value`)
	l.refused(2, l.party("ada", "kick", "ada"), `"mm party leave"`)
	p = l.read("ada", "get")
	now := l.read("ada", "kick", "eve")
	if !slices.Equal(memberIDs(now), []string{"ada", "bob"}) || now.Code == p.Code {
		t.Errorf("after the kick: %v with the code %s, was %s", memberIDs(now), now.Code, p.Code)
	}
	for _, code := range []string{p.Code, now.Code} {
		l.refused(1, l.party("eve", "join", code), "no party can be joined with it", "ask the leader for the code")
	}
	l.party("zoe", "join", now.Code).expect(0, "zoe", "")
	if got := l.party("ada", "kick", "bob"); got.code != 0 || strings.Contains(got.out, "bob") {
		t.Errorf("bob is still there: %d %s%s", got.code, got.out, got.err)
	}
}

func TestPartyGetsALeaderAndACode(t *testing.T) {
	l := newLobby(t)
	p := l.made("ada", "bob")
	l.refused(1, l.party("bob", "lead", "bob"), `only the leader does this: that is player "ada"`)
	l.refused(1, l.party("ada", "lead", "zoe"), `<member>: "zoe" is no member`)
	l.refused(2, l.party("ada", "lead", ""), "<member>: an empty value")
	if now := l.read("ada", "lead", "bob"); now.Leader != "bob" {
		t.Errorf("the leader is %s", now.Leader)
	}
	got := l.party("bob", "lead", "ada")
	if got.expect(0, "leader", ""); !strings.Contains(got.table(), "UTC yes leader\nbob ") {
		t.Errorf("ada does not lead:\n%s", got.out)
	}

	l.refused(1, l.party("bob", "code"), `only the leader does this: that is player "ada"`)
	now := l.read("ada", "code")
	if now.Code == p.Code || now.ID != p.ID {
		t.Errorf("the code of %s is %s, was %s", now.ID, now.Code, p.Code)
	}
	l.refused(1, l.party("zoe", "join", p.Code), "no party can be joined with it", "ask the leader for the code")
	l.party("zoe", "join", now.Code).expect(0, "zoe", "")
	l.refused(2, l.party("eve", "join", ""), "<code>: an empty value")
	l.refused(2, l.party("eve", "join", "K3F"), "<code>: a party's code has 9 letters and digits")
	if got = l.party("ada", "code"); got.code != 0 || strings.Contains(got.out, now.Code) {
		t.Errorf("the code is not another one: %d %s%s", got.code, got.out, got.err)
	}
}

func TestPartyEnds(t *testing.T) {
	l := newLobby(t)
	p := l.made("ada", "bob")
	l.read("ada", "start")
	l.refused(1, l.party("bob", "disband"), `only the leader does this: that is player "ada"`)
	l.party("ada", "disband").expect(0, "deleted  "+p.ID+"\n", "")
	if n := l.waiting(); n != 0 {
		t.Errorf("%d tickets wait", n)
	}
	for _, command := range []string{"get", "watch", "update", "start", "stop", "code"} {
		l.refused(1, l.party("ada", command), "the player is in no party", `"mm party create"`)
		l.refused(2, l.run("party", command, "--url", l.url, "--data", l.data), "--player is required")
	}
	for _, command := range []string{"kick", "lead"} {
		l.refused(1, l.party("ada", command, "bob"), "the player is in no party", `"mm party create"`)
		l.refused(2, l.run("party", command, "bob", "--url", l.url, "--data", l.data), "--player is required")
		l.refused(2, l.party("ada", command), "mm party "+command+" --help")
	}
	l.refused(1, l.party("bob", "join", p.Code), "no party can be joined with it")
	p = l.made("ada")
	l.party("ada", "disband", "-o", "json").expect(0, `"deleted": "`+p.ID+`"`, "")
}

// TestPartyTokenSaysWhoActs has members without attributes, which only their tokens tell apart.
func TestPartyTokenSaysWhoActs(t *testing.T) {
	l := newLobby(t)
	p := l.read("ada", "create")
	for _, player := range []string{"bob", "eve"} {
		l.read(player, "join", p.Code)
	}
	l.read("ada", "lead", "eve")
	with := func(player string, line ...string) result {
		token := strings.TrimSpace(l.run("token", "player", player, "--data", l.data).out)
		return l.run(append(line, "--url", l.url, "--token", token+"\n")...)
	}
	got := with("bob", "party", "update", "--not-ready")
	if got.expect(0, "bob", ""); !strings.Contains(got.table(), "UTC no\neve ") {
		t.Errorf("bob is ready:\n%s", got.out)
	}
	l.refused(2, with("eve", "party", "kick", "eve"), `"mm party leave"`)
	with("eve", "party", "leave").expect(0, p.ID, "")
	if p = l.read("ada", "get"); !slices.Equal(memberIDs(p), []string{"ada", "bob"}) {
		t.Errorf("the members are %v", memberIDs(p))
	}
}

// watcher is a mm party watch that runs.
type watcher struct {
	printed chan client.Party // closed when the output ends
	ended   chan result
}

func (l *lobby) watch(player string) watcher {
	read, write := io.Pipe()
	w := watcher{make(chan client.Party, 10), make(chan result, 1)}
	go func() {
		var err strings.Builder
		code := run(l.t.Context(), l.line(player, "watch", "-o", "json"), console{
			in: strings.NewReader(""), out: write, err: &err, now: time.Now,
			sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		})
		_ = write.Close()
		w.ended <- result{l.t, code, "", err.String()}
	}()
	go func() {
		defer close(w.printed)
		for lines := bufio.NewScanner(read); lines.Scan(); {
			var p client.Party
			if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
				l.t.Errorf("no party on the line %q: %v", lines.Text(), err)
			}
			w.printed <- p
		}
	}()
	return w
}

func (w watcher) next(t *testing.T) client.Party {
	t.Helper()
	p, ok := <-w.printed
	if !ok {
		t.Fatalf("the watch ended: %q", (<-w.ended).err)
	}
	return p
}

func TestPartyWatchPrintsChangesUntilThePlayerIsInNone(t *testing.T) {
	l := newLobby(t)
	made := l.made("ada", "bob", "eve")
	bob, eve := l.watch("bob"), l.watch("eve")
	for _, w := range []watcher{bob, eve} {
		if p := w.next(t); p.ID != made.ID || p.Revision != made.Revision {
			t.Errorf("the first is %+v", p)
		}
	}
	l.read("ada", "lead", "bob")
	for _, w := range []watcher{bob, eve} {
		if p := w.next(t); p.Leader != "bob" {
			t.Errorf("the second is %+v", p)
		}
	}
	l.read("bob", "kick", "eve")
	if p := bob.next(t); !slices.Equal(memberIDs(p), []string{"ada", "bob"}) {
		t.Errorf("the third is %+v", p)
	}
	(<-eve.ended).expect(0, "", "mm: the player is in no party any more: kicked\n")
	l.party("bob", "disband").expect(0, "deleted", "")
	(<-bob.ended).expect(0, "", "mm: the player is in no party any more: disbanded\n")
	for _, w := range []watcher{bob, eve} {
		for p := range w.printed {
			t.Errorf("more was printed: %+v", p)
		}
	}
}

// stopping is an output that ends what writes to it.
type stopping struct {
	strings.Builder
	stop func()
}

func (s *stopping) Write(text []byte) (int, error) {
	defer s.stop()
	return s.Builder.Write(text)
}

func TestPartyWatchPrintsATable(t *testing.T) {
	l := newLobby(t)
	p := l.made("ada")
	ctx, stop := context.WithCancel(t.Context())
	out, err := stopping{stop: stop}, strings.Builder{}
	code := run(ctx, l.line("ada", "watch"), console{in: strings.NewReader(""), out: &out, err: &err, now: time.Now,
		sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	got := result{t, code, out.String(), err.String()}
	got.expect(130, p.ID, "mm: interrupted\n")
}
