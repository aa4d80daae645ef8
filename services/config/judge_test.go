package config

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// warnings are those in the header of an answer.
func (r reply) warnings() string { return strings.Join(r.header.Values(warningHeader), "\n") }

func (s *studio) check(t *testing.T, query, body string, header ...string) reply {
	t.Helper()
	return s.do(t, http.MethodPost, "/configs/actions/check"+query, body, header...)
}

// serve uploads a function and answers its runs as a runner does.
func (s *studio) serve(t *testing.T, name string, handle func(r *pb.RunRequest, answer bus.SendPart)) {
	t.Helper()
	s.upload(t, name)
	sub, err := s.bus.ServeRuns("runner-1", "demo", name,
		func(_ context.Context, r *pb.RunRequest, answer bus.SendPart) { handle(r, answer) })
	must(t, err)
	t.Cleanup(func() { sub.Stop() })
}

func (s *studio) upload(t *testing.T, name string) {
	t.Helper()
	must(t, s.store.ChangeFunction(t.Context(), "demo", name, func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: name}, nil
	}))
}

// of is a config of a function with settings and a pool.
func of(function, settings string) string {
	return fmt.Sprintf(`{"matchmaking":{"targetFunction":{"name":%q},"config":%s},
		"pools":{"main":[{"attribute":"skill","min":0},{"attribute":"skil","max":9},{"attribute":"created","min":1}]},
		"queue":"q"}`, function, settings)
}

func TestFunctionsJudgeSettings(t *testing.T) {
	s := start(t)
	asked := make(chan *pb.RunRequest, 100)
	s.serve(t, "duel", func(r *pb.RunRequest, answer bus.SendPart) {
		asked <- r
		last := &pb.RunPart{Last: true, Stats: &pb.RunStats{Population: map[string]int64{"": 12, "skill": 3, "skil": 0}}}
		switch {
		case strings.Contains(string(r.GetSettings()), "windw"):
			last.Error = `settings: "windw" is not a setting of this function`
		case strings.Contains(string(r.GetSettings()), "crash"):
			last.Error = "trap: unreachable"
		case strings.Contains(string(r.GetSettings()), "busy"):
			last.Error = bus.Busy + ": waited for 1s"
		case strings.Contains(string(r.GetSettings()), "empty"):
			last.Stats.Population = map[string]int64{"": 0, "skill": 0, "skil": 0}
		}
		_ = answer(last)
	})
	const misspelt = `unknownAttribute: pools.main[1].attribute: none of the 12 tickets that wait in the config's queue ` +
		`has an attribute "skil"`
	good := s.put(t, "a", of("duel", `{"window":5}`))
	if good.expect(t, 200); good.warnings() != misspelt {
		t.Errorf("warnings: %s", good.warnings())
	}
	r := <-asked
	if !r.GetCheck() || string(r.GetSettings()) != `{"window":5}` || r.GetQueue() != "q" || len(r.GetPools()) != 1 ||
		len(r.GetCensus()) != 3 || r.GetConfig() != "a" {
		t.Errorf("the runner was asked %v", r)
	}
	for _, refused := range []reply{
		s.put(t, "a", of("duel", `{"windw":6}`)), s.put(t, "new", of("duel", `{"windw":6}`)),
		s.do(t, http.MethodPost, "/configs", of("duel", `{"windw":6}`)),
		s.check(t, "", of("duel", `{"windw":6}`)), s.check(t, "?id=a", of("duel", `{"windw":6}`)),
	} {
		refused.refuses(t, "badSettings",
			`matchmaking.config: function "duel" refuses it: "windw" is not a setting of this function`)
	}
	same(t, s.get(t, "a").body, of("duel", `{"window":5}`))
	s.get(t, "new").expect(t, 404)
	crash := s.put(t, "a", of("duel", `{"crash":1}`))
	if crash.expect(t, 200); !strings.HasPrefix(crash.warnings(), "failingFunction: matchmaking.config: ") {
		t.Errorf("warnings: %s", crash.warnings())
	}
	busy := s.put(t, "a", of("duel", `{"busy":1}`))
	busy.expect(t, 200)
	if !strings.HasPrefix(busy.warnings(), "uncheckedSettings: matchmaking.config: not checked") {
		t.Errorf("warnings: %s", busy.warnings())
	}
	empty := s.put(t, "a", of("duel", `{"empty":1}`))
	if empty.expect(t, 200); empty.warnings() != "" {
		t.Errorf("while no ticket waits: %s", empty.warnings())
	}
	if created := s.do(t, http.MethodPost, "/configs", of("duel", `{}`)); created.warnings() != misspelt {
		t.Errorf("POST warns: %s", created.warnings())
	}
	// What the config was is judged by the function of today.
	s.rollback(t, "a", s.history(t, "a")[1].ETag).expect(t, 200)
}

// A config may name an upload that is kept, which judges its settings, and no other.
func TestConfigNamesAnUpload(t *testing.T) {
	s := start(t)
	naming := func(upload int) string {
		return fmt.Sprintf(`{"matchmaking":{"targetFunction":{"name":"duel","version":"1","upload":%d}}}`, upload)
	}
	s.put(t, "a", naming(2)).refuses(t, "badTargetFunction",
		`matchmaking.targetFunction.upload: upload 2 of function "duel" is not kept; those that are: none`)
	asked := make(chan int64, 100)
	s.serve(t, "duel", func(r *pb.RunRequest, answer bus.SendPart) {
		asked <- r.GetUpload()
		_ = answer(&pb.RunPart{Last: true})
	})
	must(t, s.store.ChangeFunction(t.Context(), "demo", "duel", func(f *pb.Function) (*pb.Function, error) {
		f.Versions = []*pb.FunctionVersion{{Version: 3}, {Version: 2}}
		return f, nil
	}))
	good := s.put(t, "a", naming(2))
	if good.expect(t, 200); good.warnings() != "" {
		t.Errorf("warnings: %s", good.warnings())
	}
	if upload := <-asked; upload != 2 {
		t.Errorf("upload %d was asked", upload)
	}
	same(t, s.get(t, "a").body, naming(2))
	s.put(t, "a", naming(1)).refuses(t, "badTargetFunction",
		`matchmaking.targetFunction.upload: upload 1 of function "duel" is not kept; those that are: 3, 2`)
	s.check(t, "", naming(4)).expect(t, 400)
	stored, err := s.store.Config(t.Context(), "demo", "a")
	must(t, err)
	if stored.GetUpload() != 2 {
		t.Errorf("what is stored: %v", stored)
	}
}

// Settings are judged by the upload that serves now. A runner on which another one serves is asked again, for a while.
func TestSettingsAreJudgedByTheUploadThatServes(t *testing.T) {
	for _, test := range []struct {
		wait     time.Duration
		serves   int64 // from which run on the upload serves there, 0 for never
		warnings string
	}{
		{time.Minute, 3, ""},
		{time.Second, 0, "uncheckedSettings: matchmaking.config: not checked: upload 3 of " +
			`function "duel" did not run within 1s of the request`},
	} {
		s := start(t, func(o *Options) { o.JudgeTime = test.wait })
		var asked atomic.Int64
		s.serve(t, "duel", func(r *pb.RunRequest, answer bus.SendPart) {
			last := &pb.RunPart{Last: true}
			if n := asked.Add(1); r.GetServing() != 3 || n != test.serves {
				last.Error = bus.OtherUpload
			}
			_ = answer(last)
		})
		must(t, s.store.ChangeFunction(t.Context(), "demo", "duel", func(f *pb.Function) (*pb.Function, error) {
			f.Version, f.Versions = 3, []*pb.FunctionVersion{{Version: 3}, {Version: 2}}
			return f, nil
		}))
		var warnings string
		waittest.Until(t, "it is judged in time, which a machine that stands still may not do", func() bool {
			asked.Store(0)
			put := s.put(t, "a", `{"matchmaking":{"targetFunction":{"name":"duel"}}}`)
			put.expect(t, 200)
			warnings = put.warnings()
			return !strings.Contains(warnings, "did not answer within")
		})
		if warnings != test.warnings || asked.Load() < test.serves {
			t.Errorf("asked %d times, warnings: %s, want %s", asked.Load(), warnings, test.warnings)
		}
	}
}

func TestCheckStoresNothing(t *testing.T) {
	s := start(t)
	s.serve(t, "duel", func(_ *pb.RunRequest, answer bus.SendPart) {
		_ = answer(&pb.RunPart{Last: true, Stats: &pb.RunStats{Population: map[string]int64{"": 1, "skil": 0}}})
	})
	type answer struct {
		Creates  bool
		Warnings []struct{ ResultCode, Message string }
	}
	read := func(r reply) (a answer) {
		t.Helper()
		r.expect(t, 200)
		must(t, json.Unmarshal([]byte(r.body), &a))
		return a
	}
	config := of("duel", `{}`)
	if a := read(s.check(t, "", config)); !a.Creates || len(a.Warnings) != 1 ||
		a.Warnings[0].ResultCode != "unknownAttribute" {
		t.Errorf("%+v", a)
	}
	if a := read(s.check(t, "?id=a",
		`{"matchmaking":{"targetFunction":{"name":"duel","version":"9"}}}`)); !a.Creates || len(a.Warnings) != 1 ||
		a.Warnings[0].ResultCode != "ignoredVersion" {
		t.Errorf("%+v", a)
	}
	s.get(t, "a").expect(t, 404)
	tag := s.put(t, "a", config).expect(t, 200)
	if a := read(s.check(t, "?id=a", config, "If-Match", tag)); a.Creates {
		t.Errorf("%+v", a)
	}
	s.check(t, "?id=a", config, "If-Match", `"77"`).problem(t, 409, "ETag")
	s.check(t, "?id=a", config, "If-None-Match", "*").problem(t, 409, "ETag")
	s.check(t, "?id=A", config).problem(t, 409, `exists as "a"`)
	s.check(t, "?id=a&id=b", config).problem(t, 400, "given more than once")
	s.check(t, "?id=NUL", config).refuses(t, "badConfigId", "configId")
	s.check(t, "?id=a", hosted("AK", mask)).refuses(t, "badHosting", "hosting.Secret")
	s.check(t, "", `{"odd":1}`).refuses(t, "unknownMember", "odd")
	if all := s.history(t, "a"); len(all) != 1 || all[0].ETag != tag {
		t.Errorf("the history is %+v", all)
	}
	// It is no config of this name, and does not hide one.
	s.put(t, "actions", config).expect(t, 200)
	s.do(t, http.MethodGet, "/configs/actions/history", "").expect(t, 200)
	s.do(t, http.MethodPost, "/configs/actions/actions/rollback", `{"etag":"\"1\""}`).problem(t, 404, "is not kept")
}

// Configs can be put while they cannot be checked.
func TestConfigsOfFunctionsThatCannotBeAsked(t *testing.T) {
	s := start(t, impatient)
	r := s.put(t, "a", `{"matchmaking":{"targetFunction":{"name":"dual","version":"7"}}}`)
	r.expect(t, 200)
	for _, want := range []string{"ignoredVersion: matchmaking.targetFunction.version: ",
		`unknownFunction: matchmaking.targetFunction.name: no function "dual" is uploaded`} {
		if !slices.ContainsFunc(r.header.Values(warningHeader), func(w string) bool { return strings.HasPrefix(w, want) }) {
			t.Errorf("warnings: %s, want %s", r.warnings(), want)
		}
	}
	s.serve(t, "silent", func(*pb.RunRequest, bus.SendPart) {})
	s.upload(t, "away")
	for _, function := range []string{"silent", "away"} {
		r := s.put(t, "a", of(function, `{}`))
		r.expect(t, 200)
		if !strings.HasPrefix(r.warnings(), "uncheckedSettings: matchmaking.config: not checked") {
			t.Errorf("%s: warnings: %s", function, r.warnings())
		}
	}
}

// A function that computes for ever is not asked for ever.
func TestJudgingHasABudget(t *testing.T) {
	s := start(t)
	var runs atomic.Int64
	s.serve(t, "duel", func(_ *pb.RunRequest, answer bus.SendPart) {
		runs.Add(1)
		_ = answer(&pb.RunPart{Last: true, Stats: &pb.RunStats{Charge: (4 * time.Second).Microseconds()}})
	})
	for range 5 {
		s.put(t, "a", of("duel", `{}`)).expect(t, 200)
	}
	last := s.put(t, "a", of("duel", `{}`))
	if last.expect(t, 200); !strings.Contains(last.warnings(), "more processor time") || runs.Load() != 2 {
		t.Errorf("after %d runs: %s", runs.Load(), last.warnings())
	}
}

func TestHeaderText(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "ä\r\nb": `\u00e4\u000d\u000ab`,
		strings.Repeat("x", 300): strings.Repeat("x", maxWarningBytes-3) + "...",
	} {
		if got := headerText(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
