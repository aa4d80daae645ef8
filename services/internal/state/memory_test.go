package state_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

// limited starts a Redis with a maxmemory. client sets its configuration.
func limited(t *testing.T, maxmemory string) (url string, client *redis.Client) {
	t.Helper()
	port := embeddedtest.FreePort(t)
	startRedis(t, "--port", port, "--maxmemory", maxmemory, "--maxmemory-policy", "noeviction")
	client = redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	t.Cleanup(func() { _ = client.Close() })
	return "redis://127.0.0.1:" + port, client
}

// isShort checks that something was refused for want of memory: 503, with a time and with the reason.
func isShort(t *testing.T, what string, err error) {
	t.Helper()
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Kind != problem.Unavailable || p.RetryAfter <= 0 || !strings.Contains(p.Detail, "memory") {
		t.Errorf("%s: %v, want an error that says that there is no memory", what, err)
	}
}

func bigTicket(id string) *pb.Ticket {
	return &pb.Ticket{Id: id, Owner: "o", Properties: map[string][]byte{"blob": make([]byte, 20<<10)}}
}

// fillUp creates tickets until one is refused, and returns their ids.
func fillUp(t *testing.T, s *state.Store, project string, before func()) (ids []string) {
	t.Helper()
	for i := range 10_000 {
		before()
		id := fmt.Sprint("big-", i)
		if err := s.Creator(nil).Create(t.Context(), project, bigTicket(id)); err != nil {
			isShort(t, "create", err)
			return ids
		}
		ids = append(ids, id)
	}
	t.Fatal("10,000 tickets fit")
	return nil
}

func putFunction(t *testing.T, s *state.Store, name string, version int64) error {
	t.Helper()
	return s.ChangeFunction(t.Context(), project, name, func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: name, Version: version}, nil
	})
}

// Creates stop at the reserve. What exists can be replaced, and creates go on as soon as there is memory again.
func TestCreatesLeaveTheReserveFree(t *testing.T) {
	t.Parallel()
	url, client := limited(t, "16mb")
	s := openStore(t, state.Options{Server: state.Server{URL: url}, Limits: state.Limits{Reserve: "25%"}})
	measure := func() {
		if err := s.MeasureMemory(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	setUp(t, s)
	small := &pb.Backfill{Id: "small", Connection: "1.2.3.4:5", Properties: map[string][]byte{"p": []byte("123456")}}
	if _, err := s.CreateBackfill(t.Context(), project, small); err != nil {
		t.Fatal(err)
	}
	if err := putFunction(t, s, "duel", 1); err != nil {
		t.Fatal(err)
	}
	if measure(); s.MemoryWarning() != "" {
		t.Errorf("warning of an empty Redis: %s", s.MemoryWarning())
	}
	ids := fillUp(t, s, project, measure)
	if m, known := s.Memory(); !known || m.Reserve != 4<<20 || m.Free < 3<<20 || m.Free >= m.Reserve {
		t.Errorf("creates were refused with %+v left", m)
	}
	if s.MemoryWarning() == "" {
		t.Error("no warning says that Redis is short of memory")
	}

	_, err := s.CreateBackfill(t.Context(), project, &pb.Backfill{Id: "new", Connection: "c"})
	isShort(t, "a backfill ticket", err)
	_, _, err = s.PutConfig(t.Context(), project, &pb.Config{Id: "new"}, state.AnyRevision)
	isShort(t, "a config", err)
	isShort(t, "a function", putFunction(t, s, "new", 1))
	_, _, err = s.PutConfig(t.Context(), "other", &pb.Config{Id: "c"}, state.AnyRevision)
	isShort(t, "a project", err)
	if known, err := s.Projects(t.Context()); err != nil || len(known) != 1 {
		t.Errorf("projects: %v, %v", known, err)
	}
	larger := &pb.Backfill{Id: "small", Connection: "1.2.3.4:5", Properties: map[string][]byte{"p": []byte("1234567")}}
	_, err = s.ReplaceBackfill(t.Context(), project, larger)
	isShort(t, "a larger backfill ticket", err)

	if _, err := s.ReplaceBackfill(t.Context(), project, small); err != nil {
		t.Errorf("a backfill ticket of the same size: %v", err)
	}
	_, _, err = s.PutConfig(t.Context(), project, &pb.Config{Id: "c", Function: "other"}, state.AnyRevision)
	if err != nil {
		t.Errorf("a config that exists: %v", err)
	}
	if err := putFunction(t, s, "duel", 2); err != nil {
		t.Errorf("a function that exists: %v", err)
	}

	for _, id := range ids[:len(ids)/4] {
		if _, err := s.DeleteTicket(t.Context(), project, id, ""); err != nil {
			t.Fatal(err)
		}
	}
	if measure(); s.MemoryWarning() != "" {
		t.Errorf("warning after a quarter was deleted: %s", s.MemoryWarning())
	}
	create(t, s, "a")
	if _, err := s.CreateBackfill(t.Context(), project, &pb.Backfill{Id: "new", Connection: "c"}); err != nil {
		t.Error(err)
	}

	if err := client.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	if measure(); !strings.Contains(s.MemoryWarning(), "noeviction") {
		t.Errorf("warning of a Redis that evicts keys: %q", s.MemoryWarning())
	}
	if err := client.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
		t.Fatal(err)
	}
	if measure(); s.MemoryWarning() != "" {
		t.Errorf("warning of a Redis without a maxmemory: %s", s.MemoryWarning())
	}
}

// What exists goes on when Redis is full to the last byte, and frees it without help.
func TestFullRedisUnlocksItself(t *testing.T) {
	t.Parallel()
	url, client := limited(t, "12mb")
	s := openStore(t, state.Options{Server: state.Server{URL: url}, History: 1000})
	ctx := t.Context()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	revision, terms := setUp(t, s)
	must("function", putFunction(t, s, "duel", 1))
	var ids []string
	for i := range 10 {
		ids = append(ids, fmt.Sprint("ticket-", i))
	}
	create(t, s, ids...)
	game := &pb.Backfill{Id: "game", Connection: "1.2.3.4:5"}
	_, err := s.CreateBackfill(ctx, project, game)
	must("backfill ticket", err)

	big := fillUp(t, s, "filler", func() {})
	// No step below frees so much that the next one would find memory.
	must("maxmemory", client.ConfigSet(ctx, "maxmemory", "4mb").Err())
	_, err = s.CreateBackfill(ctx, project, &pb.Backfill{Id: "new", Connection: "c"})
	isShort(t, "a backfill ticket", err)
	_, _, err = s.PutConfig(ctx, "another", &pb.Config{Id: "c"}, state.AnyRevision)
	isShort(t, "a project", err)

	later := s.At(at(2))
	_, err = later.Heartbeat(ctx, "director-2", 1, time.Minute)
	must("heartbeat", err)
	first := terms.Epoch
	terms.Epoch, err = later.AcquireLease(ctx, project, "director-2", time.Minute)
	if err != nil || terms.Epoch <= first {
		t.Fatalf("a lease of a full Redis: epoch %d, %v", terms.Epoch, err)
	}
	follow(t, later).sees(t, ids...) // for the first time, so the feed has no name
	hosted, left := claim(revision, "m1", ids[0], ids[1]), claim(revision, "m3", ids[4], ids[5])
	mustClaim(t, later, terms, hosted, direct(revision, "m2", "1.2.3.4:5", ids[2], ids[3]), left)
	if hosted.Refusal != "" || left.Refusal != "" {
		t.Errorf("claims were refused: %q %q", hosted.Refusal, left.Refusal)
	}
	b, err := later.BeginAllocation(ctx, project, hosted.Match, tenSecondLease("one", time.Minute))
	if err != nil || b.Status != state.MatchActive {
		t.Fatalf("begin: %+v, %v", b, err)
	}
	status, got, err := later.Assign(ctx, project, hosted.Match, state.Outcome{Holder: "one", Readable: time.Minute,
		Connection: "5.6.7.8:9"},
		map[string]*pb.Assignment{ids[0]: {Connection: "5.6.7.8:9"}, ids[1]: {Connection: "5.6.7.8:9"}})
	if err != nil || status != state.MatchActive || len(got) != 2 {
		t.Fatalf("assign: %s %v, %v", status, got, err)
	}
	released, _, err := s.At(at(30)).ReleaseOverdueMatches(ctx, project, 10)
	if err != nil || len(released) != 1 {
		t.Fatalf("release: %v, %v", released, err)
	}
	proposed := fill(revision, game, game, ids[6])
	terms.Approval = time.Minute
	mustClaim(t, later, terms, proposed)
	if proposed.Refusal != "" {
		t.Errorf("a proposal was refused: %q", proposed.Refusal)
	}
	approved, err := later.ApproveBackfill(ctx, project, "game", state.ApprovalOptions{Readable: time.Minute})
	if err != nil || len(approved.Assigned) != 1 {
		t.Errorf("approval: %+v, %v", approved, err)
	}
	_, err = s.ReplaceBackfill(ctx, project, game)
	must("replace", err)
	must("list of projects", s.AddProjects(ctx, []string{project}))
	must("event", s.AppendEvent(ctx, project, &pb.Event{Kind: pb.Event_KIND_RETURNED}))
	entries, err := s.History(ctx, project, nil, 100)
	must("history", err)
	must("bookmark", s.SetBookmark(ctx, project, entries[len(entries)-1].Bookmark))
	if mark, err := s.Bookmark(ctx, project); err != nil || mark.GetPosition() == 0 {
		t.Errorf("bookmark %v, %v", mark, err)
	}
	known := map[string]int64{"c": revision}
	revision, _, err = s.PutConfig(ctx, project, &pb.Config{Id: "c", Function: "other"}, state.AnyRevision)
	must("replace a config", err)
	one, err := s.Config(ctx, project, "c")
	if err != nil || one.GetFunction() != "other" || one.GetRevision() != revision {
		t.Errorf("config: %v, %v", one, err)
	}
	if all, err := s.Configs(ctx, project); err != nil || all["c"].GetRevision() != revision {
		t.Errorf("configs: %v, %v", all, err)
	}
	if changed, _, err := s.ChangedConfigs(ctx, project, known); err != nil || changed["c"].GetFunction() != "other" {
		t.Errorf("changed configs: %v, %v", changed, err)
	}
	must("replace a function", putFunction(t, s, "duel", 2))
	must("rate", s.Allow(ctx, project, "configs", state.Rate{PerSecond: 1, Burst: 10}))
	expired, err := s.At(at(4000)).Expire(ctx, project, time.Hour, time.Minute, 100)
	if err != nil || expired.Abandoned == 0 {
		t.Errorf("expire: %+v, %v", expired, err)
	}
	there, err := s.DeleteConfig(ctx, project, "c", state.AnyRevision, "")
	if err != nil || !there {
		t.Errorf("delete a config: %t, %v", there, err)
	}
	if there, _, err := s.DeleteBackfill(ctx, project, "game", ""); err != nil || !there {
		t.Errorf("delete a backfill ticket: %t, %v", there, err)
	}

	must("maxmemory", client.ConfigSet(ctx, "maxmemory", "12mb").Err())
	for _, id := range big {
		_, err := s.DeleteTicket(ctx, "filler", id, "")
		must("delete", err)
	}
	create(t, s, "new")
	_, err = s.CreateBackfill(ctx, project, &pb.Backfill{Id: "new", Connection: "c"})
	must("create", err)
}

func TestReserve(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "0": true, "10%": true, "0.5%": true, "50%": true, "1048576": true, "256MiB": true, "64KiB": true,
		"2GiB": true,
		"51%":  false, "-1%": false, "NaN%": false, "ten": false, "-5MiB": false, "10MB": false, "9999999999GiB": false,
		"%": false,
	} {
		limits := state.Limits{Backfills: 1, Reserve: text}
		err := limits.Validate()
		if ok != (err == nil || !strings.Contains(err.Error(), "--redis-reserve")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
