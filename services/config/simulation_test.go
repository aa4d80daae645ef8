package config

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9" //nolint:depguard // it reads and changes what the service stored

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// played has a runner that answers each simulation with parts.
func (s *studio) played(t *testing.T, answer func(r *pb.RunRequest, send bus.SendPart)) {
	t.Helper()
	sub, err := s.bus.ServeRuns("runner", "demo", "duel", func(_ context.Context, r *pb.RunRequest, send bus.SendPart) {
		if r.GetSimulation() == nil {
			_ = send(&pb.RunPart{Last: true, Stats: &pb.RunStats{}})
			return
		}
		go answer(r, send)
	})
	must(t, err)
	t.Cleanup(func() { sub.Stop() })
}

// read reads a simulation until it ends, or has a progress.
func (s *studio) read(t *testing.T, location string, enough func(one *response.Simulation) bool) *response.Simulation {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		r := s.do(t, http.MethodGet, "/"+location, "")
		r.expect(t, http.StatusOK)
		one := new(response.Simulation)
		must(t, json.Unmarshal([]byte(r.body), one))
		if enough(one) {
			return one
		}
		if time.Now().After(deadline) {
			t.Fatalf("it goes on: %s", r.body)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func ended(one *response.Simulation) bool { return one.State != simulationRuns }

const other = `{"id":"ranked","config":{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"window":50}},` +
	`"queue":"q","hosting":{"Profile":"p","Access":"AKID","Secret":"hunter2","FleetId":"f"}}}`

func TestSimulation(t *testing.T) {
	s := start(t, impatient)
	asked, goOn := make(chan *pb.RunRequest, 1), make(chan bool)
	s.played(t, func(r *pb.RunRequest, send bus.SendPart) {
		asked <- r
		must(t, send(&pb.RunPart{Simulated: &pb.Simulated{Progress: 0.5}}))
		<-goOn
		book := report.Spans()[0].NewBook(0)
		book.Add(&report.Match{Players: 2, Waits: []float64{3, 5},
			Values: []report.Value{{Kind: report.Spread, Name: "skill", Value: 40}}})
		side := &pb.SimulatedSide{Tickets: 9, Players: 10, Matched: 2, Left: 3, Failed: 1, Waiting: 4, Matches: 1, Runs: 7,
			Waits: []float64{3, 5}, Report: book.Message()}
		must(t, send(&pb.RunPart{Last: true, Stats: &pb.RunStats{Charge: 1000}, Simulated: &pb.Simulated{
			RecordedSince: 1_700_000_000_000, RecordedUntil: 1_700_000_100_000, PlayedUntil: 1_700_000_050_000,
			Sides: []*pb.SimulatedSide{side, {Tickets: 9, Report: book.Message()}}}}))
	})
	queued := strings.Replace(ranked, `"pools"`, `"queue":"q","pools"`, 1)
	s.put(t, "ranked", queued).expect(t, 200)
	s.put(t, "second", queued).expect(t, 200)
	s.put(t, "elsewhere", ranked).expect(t, 200)
	r := s.do(t, http.MethodPost, "/simulations", other)
	r.expect(t, http.StatusAccepted)
	location := r.header.Get("Location")
	if strings.Contains(r.body, "hunter2") || !strings.HasPrefix(location, "simulations/") {
		t.Errorf("%s %s", location, r.body)
	}
	request := <-asked
	sides := request.GetSimulation().GetSides()
	if len(sides) != 2 || len(sides[0].GetConfigs()) != 2 || sides[0].GetConfigs()[0].GetId() != "second" ||
		string(sides[1].GetConfigs()[1].GetSettings()) != `{"window":50}` || strings.Contains(request.String(), "hosting") {
		t.Errorf("%v", request)
	}
	one := s.read(t, location, func(one *response.Simulation) bool { return one.Progress > 0 })
	record, err := s.store.Simulation(t.Context(), "demo", one.ID)
	if must(t, err); strings.Contains(string(record), "AKID") || !strings.Contains(string(record), mask) {
		t.Errorf("Redis has %s", record)
	}
	if one.State != simulationRuns || one.Progress != 0.5 || one.Config != "ranked" || one.Tried.Queue != "q" {
		t.Errorf("%+v", one)
	}
	close(goOn)
	one = s.read(t, location, ended)
	if one.State != simulationDone || one.Progress != 1 || one.PlayedUntil == "" || one.Alternative.Tickets != 9 ||
		one.Present.Waiting != 4 || len(one.Present.Waits) != 2 || len(one.Present.Measures) != 2 ||
		one.Present.Measures[1].Mean != 40 {
		t.Errorf("%+v", one)
	}
	// No other project has it.
	if _, err := s.store.Simulation(t.Context(), "other", one.ID); problem.KindOf(err) != problem.NotFound {
		t.Errorf("another project: %v", err)
	}
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "other", Role: "Manager"})
	s.do(t, http.MethodGet, "/"+location, "").expect(t, http.StatusForbidden)
}

func TestSimulationOfANewConfig(t *testing.T) {
	s := start(t, impatient)
	s.played(t, func(r *pb.RunRequest, send bus.SendPart) {
		must(t, send(&pb.RunPart{Last: true, Simulated: &pb.Simulated{
			Sides: make([]*pb.SimulatedSide, len(r.GetSimulation().GetSides()))}}))
	})
	r := s.do(t, http.MethodPost, "/simulations", other)
	r.expect(t, http.StatusAccepted)
	if one := s.read(t, r.header.Get("Location"), ended); one.Present != nil || one.Alternative == nil {
		t.Errorf("%+v", one)
	}
}

// watched opens the store of a service on a Redis that the test reads and changes itself. Its clock stands still, so
// that no budget comes back.
func watched(t *testing.T) (*redis.Client, func(*Options)) {
	t.Helper()
	url := embeddedtest.Redis(t)
	options, err := redis.ParseURL(url)
	must(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	now := time.Now()
	store, err := state.Open(state.Options{Server: state.Server{URL: url}, Log: slog.New(slog.DiscardHandler),
		Clock: func() time.Time { return now }})
	must(t, err)
	t.Cleanup(func() { store.Close() })
	return client, func(o *Options) { o.Store = store }
}

// stored is the only simulation in Redis, once it satisfies a condition.
func stored(t *testing.T, client *redis.Client, enough func(one *response.Simulation) bool) (key string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		keys, err := client.Keys(t.Context(), "mm:{demo}:sim:*").Result()
		must(t, err)
		if len(keys) == 0 {
			continue
		}
		one := new(response.Simulation)
		must(t, json.Unmarshal([]byte(client.Get(t.Context(), keys[0]).Val()), one))
		if enough(one) {
			return keys[0]
		}
	}
	t.Fatal("it goes on")
	return ""
}

// spent is what the simulations of the project were charged.
func spent(t *testing.T, store *state.Store) time.Duration {
	t.Helper()
	budget := state.Budget{Amount: 2 * time.Minute, Window: 10 * time.Minute}
	left, _, err := store.Charge(t.Context(), "demo", simulationWork, 0, budget)
	must(t, err)
	return budget.Amount - left
}

// A simulation ends that is not read, and is charged all the same.
func TestUnreadSimulationEnds(t *testing.T) {
	client, with := watched(t)
	s := start(t, impatient, with)
	hang := make(chan bool)
	defer close(hang)
	s.played(t, func(_ *pb.RunRequest, send bus.SendPart) {
		must(t, send(&pb.RunPart{Simulated: &pb.Simulated{Progress: 0.5}}))
		<-hang
	})
	s.do(t, http.MethodPost, "/simulations", other).expect(t, http.StatusAccepted)
	key := stored(t, client, func(one *response.Simulation) bool { return one.State == simulationRuns })
	must(t, client.PExpire(t.Context(), key, time.Hour-time.Minute).Err())
	stored(t, client, func(one *response.Simulation) bool { return strings.Contains(one.Error, "it was not read") })
	if n := spent(t, s.store); n < 900*time.Millisecond {
		t.Errorf("it cost %s", n)
	}
}

// A result ends an hour after the simulation did, however often it is read.
func TestResultsOfSimulationsEnd(t *testing.T) {
	client, with := watched(t)
	s := start(t, impatient, with)
	left := func(state string) time.Duration {
		t.Helper()
		const id = "0192f3c0-7d7a-7c53-a0f4-2b7f6f0f2d11"
		at, key := s.store.Now().UTC().Format(time.RFC3339), "mm:{demo}:sim:"+id
		_, err := s.store.PutSimulation(t.Context(), "demo", id,
			[]byte(`{"id":"`+id+`","config":"a","state":"`+state+`","progress":0,"updated":"`+at+`"}`))
		must(t, err)
		must(t, client.PExpire(t.Context(), key, time.Minute).Err())
		s.do(t, http.MethodGet, "/simulations/"+id, "").expect(t, http.StatusOK)
		return client.PTTL(t.Context(), key).Val()
	}
	if n := left(simulationRuns); n < 59*time.Minute {
		t.Errorf("one that runs and is read has %s", n)
	}
	if n := left(simulationDone); n > time.Minute {
		t.Errorf("a result that is read has %s", n)
	}
}

// A simulation leaves the reserve of Redis free.
func TestSimulationWithoutMemory(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	server, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: t.TempDir(), Log: log})
	must(t, err)
	t.Cleanup(func() { server.Close() })
	options, err := redis.ParseURL(server.URL())
	must(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	store, err := state.Open(state.Options{Server: state.Server{URL: embeddedtest.Patient(server.URL())}, Log: log,
		Limits: state.Limits{Reserve: "50%"}})
	must(t, err)
	t.Cleanup(func() { store.Close() })
	s := start(t, impatient, func(o *Options) { o.Store = store })
	used, err := strconv.Atoi(client.InfoMap(t.Context(), "memory").Item("Memory", "used_memory"))
	must(t, err)
	must(t, client.ConfigSet(t.Context(), "maxmemory", strconv.Itoa(used*3/2)).Err())
	go store.KeepMemory(t.Context())
	for deadline := time.Now().Add(patience); store.HasMemory(t.Context(), "demo") == nil; {
		if <-time.After(20 * time.Millisecond); time.Now().After(deadline) {
			t.Fatal("Redis has memory")
		}
	}
	s.do(t, http.MethodPost, "/simulations", other).problem(t, 503, "memory")
}

// A simulation outlives some seconds without Redis, but neither a silent runner nor a longer time without Redis.
func TestSimulationWithoutRedis(t *testing.T) {
	store, err := state.Open(state.Options{Server: state.Server{URL: embeddedtest.Redis(t)},
		Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	must(t, store.Close())
	synctest.Test(t, func(t *testing.T) {
		s := &service{Options: Options{Store: store}}
		await := func(seconds int, last bool) error {
			parts := make(chan *pb.RunPart, 20)
			go func() {
				for range seconds {
					<-time.After(time.Second)
					parts <- &pb.RunPart{Simulated: &pb.Simulated{}}
				}
				if last {
					parts <- &pb.RunPart{Last: true, Simulated: &pb.Simulated{}}
				}
			}()
			_, err := s.await(t.Context(), "demo", &response.Simulation{}, parts, false)
			return err
		}
		if err := await(10, true); err != nil {
			t.Errorf("ten seconds without Redis: %v", err)
		}
		if err := await(0, false); err == nil || !strings.Contains(err.Error(), "no runner answers") {
			t.Errorf("a silent runner: %v", err)
		}
		if err := await(17, false); problem.KindOf(err) != problem.Unavailable {
			t.Errorf("without Redis: %v", err)
		}
		<-time.After(time.Minute) // the last parts are sent
	})
}

// A process has places for all projects, however they are shared.
func TestPlacesOfSimulations(t *testing.T) {
	s := simulations{projects: map[string]int{}}
	for i := range maxSimulations {
		if err := s.take(strconv.Itoa(i / projectSimulations)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.take("0"); err == nil || !strings.Contains(err.Detail, "of this project") {
		t.Errorf("a third of a project: %v", err)
	}
	if err := s.take("new"); err == nil || !strings.Contains(err.Detail, "of all projects") {
		t.Errorf("one more than all places: %v", err)
	}
	s.give("0")
	if err := s.take("new"); err != nil {
		t.Error(err)
	}
}

// A simulation fails with a reason, whatever becomes of its runner and its reader.
func TestSimulationsThatFail(t *testing.T) {
	_, with := watched(t)
	s := start(t, impatient, with)
	post := func() string {
		t.Helper()
		r := s.do(t, http.MethodPost, "/simulations", other)
		r.expect(t, http.StatusAccepted)
		return r.header.Get("Location")
	}
	if one := s.read(t, post(), ended); one.Error != bus.NoRunner {
		t.Errorf("without a runner: %+v", one)
	}
	s.played(t, func(_ *pb.RunRequest, send bus.SendPart) {
		must(t, send(&pb.RunPart{Last: true, Error: "no ticket came", Simulated: &pb.Simulated{RecordedSince: 1}}))
	})
	if one := s.read(t, post(), ended); one.Error != "no ticket came" || one.RecordedSince == "" {
		t.Errorf("%+v", one)
	}
	if n := spent(t, s.store); n < 1800*time.Millisecond {
		t.Errorf("two that failed at once cost %s", n)
	}
	// The process that followed it is gone.
	const id = "0192f3c0-7d7a-7c53-a0f4-2b7f6f0f2d11"
	_, err := s.store.PutSimulation(t.Context(), "demo", id,
		[]byte(`{"id":"`+id+`","state":"running","updated":"2020-01-01T00:00:00Z"}`))
	must(t, err)
	if one := s.read(t, "simulations/"+id, ended); !strings.Contains(one.Error, "is gone") {
		t.Errorf("%+v", one)
	}
}

// Configs are played together if they fit into a message of the bus.
func TestSimulationOfLongConfigs(t *testing.T) {
	s := start(t, impatient)
	s.played(t, func(_ *pb.RunRequest, send bus.SendPart) { must(t, send(&pb.RunPart{Last: true, Error: "played"})) })
	name := func(i int) string { return strings.Repeat(strconv.Itoa(i), longestID) }
	long := func(n int) string {
		return `{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"a":"` + strings.Repeat("x", n) + `"}},"queue":"q"}`
	}
	post := func(present, alternative int) reply {
		t.Helper()
		for i := range sideConfigs {
			s.put(t, name(i), long(present)).expect(t, http.StatusOK)
		}
		return s.do(t, http.MethodPost, "/simulations", `{"id":"`+name(0)+`","config":`+long(alternative)+`}`)
	}
	post(65_400, 65_100).problem(t, http.StatusBadRequest, "shorten them")
	r := post(64_600, 64_600)
	r.expect(t, http.StatusAccepted)
	if one := s.read(t, r.header.Get("Location"), ended); one.Error != "played" {
		t.Errorf("%+v", one)
	}
}

func TestSimulationRefusals(t *testing.T) {
	s := start(t, impatient)
	hang := make(chan bool)
	defer close(hang)
	s.played(t, func(*pb.RunRequest, bus.SendPart) { <-hang })
	s.do(t, http.MethodGet, "/simulations/x", "").problem(t, 404, "no simulation")
	s.do(t, http.MethodGet, "/simulations/0192f3c0-7d7a-7c53-a0f4-2b7f6f0f2d11", "").problem(t, 404, "no simulation")
	s.do(t, http.MethodPost, "/simulations", `{"id":"ranked"}`).problem(t, 400, "config: missing")
	s.do(t, http.MethodPost, "/simulations", `{"id":"ranked","config":{},"more":1}`).problem(t, 400, "more")
	for body, want := range map[string]string{
		`{"id":"ranked","config":{}}`:                                                      "matchmaking",
		`{"id":"","config":{"matchmaking":{"targetFunction":{"name":"duel"}}}}`:            `"id: 1 to 255`,
		`{"id":"a","config":{"matchmaking":{"targetFunction":{"name":"duel"}},"queue":7}}`: "queue",
	} {
		if r := s.do(t, http.MethodPost, "/simulations", body); r.status != 400 || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	s.put(t, "old", strings.Replace(ranked, `"pools"`, `"queue":"q","pools"`, 1)).expect(t, 200)
	s.do(t, http.MethodPost, "/simulations", `{"id":"old","config":`+ranked+`}`).problem(t, 400, "config.queue: \"\" is not")
	manager := s.token
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Support"})
	s.do(t, http.MethodPost, "/simulations", other).problem(t, 403, "support.properties")
	err := s.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{SupportProperties: true}, state.AnyRevision)
	must(t, err)
	s.do(t, http.MethodPost, "/simulations", other).expect(t, http.StatusAccepted)
	s.token = manager
	s.do(t, http.MethodPost, "/simulations", other).expect(t, http.StatusAccepted)
	s.do(t, http.MethodPost, "/simulations", other).problem(t, 429, "simulations of this project run")
	s.token = s.mint(t, issuer.Claims{Kind: auth.Player, Subject: "p", Project: "demo"})
	s.do(t, http.MethodPost, "/simulations", other).expect(t, http.StatusForbidden)
	s.token = manager
	_, _, err = s.store.Charge(t.Context(), "demo", simulationWork, 3*time.Minute,
		state.Budget{Amount: 2 * time.Minute, Window: 10 * time.Minute})
	must(t, err)
	s.do(t, http.MethodPost, "/simulations", other).problem(t, 429, "computed for longer")
}
