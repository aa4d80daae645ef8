package ticket_test

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
	"matchmaker.dev/services/ticket/seat"
)

// seated is a service that issues seat passes, and a game server that checks them.
type seated struct {
	*replicas
	keys *client.SeatKeys
}

func startSeated(t *testing.T) *seated {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seat-keys.json")
	_, err := keyfile.Rotate(path, time.Now())
	must(t, err)
	log := slog.New(slog.DiscardHandler)
	keys, err := keyfile.Open(path, time.Now, log)
	must(t, err)
	passes := seat.New(keys, time.Now, time.Minute)
	e := web.New(log, web.Options{})
	passes.Routes(e)
	server := httptest.NewServer(openapitest.Handler(t, e))
	t.Cleanup(server.Close)
	s := &seated{replicas: startWith(t, state.Options{}, func(o *ticket.Options) { o.Seats = passes })}
	s.keys, err = client.SeatKeysAt(server.URL+client.SeatKeysPath, nil)
	must(t, err)
	return s
}

// seat gives a ticket a result, and wakes the requests that wait for it.
func (r *replicas) seat(t *testing.T, id string, result *pb.Assignment) {
	t.Helper()
	results := []*pb.Assignment{result}
	_, refused, _, err := r.store.AssignWaiting(t.Context(), "demo", &pb.Proposal{}, []string{id}, results, time.Minute)
	if err != nil || refused != "" {
		t.Fatal(refused, err)
	}
	r.bus.NotifyResults(t.Context(), "demo", []string{id}, results)
}

// inMatch is a result with seats, and inGame one of a running game.
var (
	inMatch = &pb.Assignment{Connection: "10.0.0.1:7777", Match: "m"}
	inGame  = &pb.Assignment{Connection: "10.0.0.1:7777", Match: "later", Backfill: "b"}
)

// admits wants seat passes in an answer for these players and for no others, which the server of the match and of the
// backfill ticket accepts.
func (s *seated) admits(t *testing.T, text, id string, want ...string) {
	t.Helper()
	var got struct {
		Assignment struct{ Seats map[string]string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	passes := got.Assignment.Seats
	if names := slices.Sorted(maps.Keys(passes)); !slices.Equal(names, want) {
		t.Fatalf("there are passes of %q, want %q: %s", names, want, text)
	}
	server := client.SeatServer{Project: "demo", Match: "m", Backfill: "b", Connection: "10.0.0.1:7777"}
	seats, err := client.NewSeats(client.SeatsOptions{SeatServer: server, Keys: s.keys})
	must(t, err)
	for player, pass := range passes {
		if got, err := seats.CheckPlayer(t.Context(), pass, player); err != nil || got != id {
			t.Errorf("the pass of %s is for the ticket %q, %v", player, got, err)
		}
	}
}

func TestResultsHaveSeatPasses(t *testing.T) {
	s := startSeated(t)
	three, own := s.createFor(t, "ada", ofThree), s.create(t)
	foreign := s.createFor(t, "ada", `{"players":[{"id":"bob"}]}`)
	waiting := s.createFor(t, "ada", ofThree)
	plain := s.create(t)
	s.seat(t, three, inMatch)
	s.seat(t, own, inGame)
	s.seat(t, foreign, inMatch)
	s.seat(t, plain, &pb.Assignment{Connection: "10.0.0.1:7777"})
	get := func(id, as string, service bool) string {
		t.Helper()
		claims := player(as)
		if service {
			claims = lobby(auth.ScopeAct)
		}
		status, text := s.as(t, claims, http.MethodGet, s.urls[1]+"?id="+id, "")
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		return text
	}
	s.admits(t, get(three, "ada", false), three, "ada")
	s.admits(t, get(three, "bob", false), three, "bob")
	s.admits(t, get(three, "", true), three, "ada", "bob", "eve")
	s.admits(t, get(own, "ada", false), own, "ada")
	s.admits(t, get(own, "", true), own, "ada")
	s.admits(t, get(foreign, "ada", false), foreign) // she owns the ticket, and plays in no match
	s.admits(t, get(foreign, "bob", false), foreign, "bob")
	for _, id := range []string{waiting, plain} {
		if text := get(id, "ada", false); strings.Contains(text, "seats") {
			t.Errorf("there are seats in %s", text)
		}
	}
	if log := s.lines.String(); strings.Contains(log, "eyJ") {
		t.Errorf("the log has a token: %s", log)
	}
}

func in(project string, c issuer.Claims) issuer.Claims {
	c.Project = project
	return c
}

// A request that waits for a result gets the passes with it.
func TestThoseWhoWaitGetSeatPasses(t *testing.T) {
	s := startSeated(t)
	id := s.createFor(t, "ada", ofThree)
	bob, err := s.tokens.Mint(in("demo", player("bob")))
	must(t, err)
	service, err := s.tokens.Mint(in("demo", lobby(auth.ScopeAct)))
	must(t, err)
	with := func(token string) *replicas {
		other := *s.replicas
		other.token = token
		return &other
	}
	one, all := with(bob).open(t, 0, id), with(service).open(t, 1, id)
	one.expect("waiting", id)
	all.expect("waiting", id)
	held := make(chan string, 1)
	go func() {
		_, text, err := s.send(t.Context(), http.MethodGet, s.urls[0]+"?id="+id, "", "Prefer", "wait=30")
		if err != nil {
			text = err.Error()
		}
		held <- text
	}()
	created, err := s.begin(t.Context(), http.MethodPost, s.urls[1], "{}", "Prefer", "wait=30")
	must(t, err)
	_, own, _ := strings.Cut(created.Header.Get("Location"), "id=")
	s.seat(t, id, inMatch)
	s.admits(t, one.expect("assigned", "seats").data, id, "bob")
	s.admits(t, all.expect("assigned", "seats").data, id, "ada", "bob", "eve")
	s.admits(t, <-held, id, "ada")
	s.seat(t, own, inGame)
	text, err := rest(created)
	must(t, err)
	s.admits(t, text, own, "ada")
}

func TestWithoutKeysThereAreNoPassesAndAWarning(t *testing.T) {
	r := start(t)
	id := r.create(t)
	r.seat(t, id, inMatch)
	for range 3 {
		_, text, err := r.send(t.Context(), http.MethodGet, r.urls[0]+"?id="+id, "")
		must(t, err)
		if !strings.Contains(text, "10.0.0.1:7777") || strings.Contains(text, "seats") {
			t.Error(text)
		}
	}
	if n := strings.Count(r.lines.String(), "has no --seat-keys"); n != 1 {
		t.Errorf("there are %d warnings: %s", n, r.lines)
	}
}
