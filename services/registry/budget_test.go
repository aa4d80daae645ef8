package registry

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/response"
)

// What a project's uploads took to compile is charged to it, refused ones included. Beyond the budget they are refused
// until some of it has come back. Other projects go on.
func TestCompileBudget(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options) { o.Settings.CompileBudget = 20 * time.Minute })
	left := func(used time.Duration) time.Duration {
		t.Helper()
		left, _, err := b.store.Charge(t.Context(), "demo", compileBucket, used, (&registry{Options: Options{
			Settings: Settings{CompileBudget: 20 * time.Minute}}}).compileBudget().Budget.Budget)
		must(t, err)
		return left
	}
	full := left(0)
	wants[response.Function](t, b.put(t, "/functions/good", guest{}.wasm()), http.StatusOK)
	afterGood := left(0)
	if afterGood >= full {
		t.Errorf("an upload took nothing: %v of %v are left", afterGood, full)
	}
	refused(t, b.put(t, "/functions/bad", guest{trap: true}.wasm()), http.StatusBadRequest, "does not start")
	afterBad := left(0)
	if afterBad >= afterGood {
		t.Errorf("a refused upload took nothing: %v of %v are left", afterBad, afterGood)
	}
	wants[response.Function](t, b.put(t, "/functions/again", guest{}.wasm()), http.StatusOK)
	if now := left(0); now != afterBad {
		t.Errorf("a module that is known took %v", afterBad-now)
	}
	left(30 * time.Minute)
	a := b.put(t, "/functions/more", guest{size: 1}.wasm())
	refused(t, a, http.StatusTooManyRequests, "file: the modules of this project took 20m0s to compile within an hour")
	if after, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || after < 29*60 || after > 31*60 {
		t.Errorf("Retry-After %q, want half an hour: a third of an hour comes back in one", a.header.Get("Retry-After"))
	}
	b.clock.advance(31 * time.Minute)
	wants[response.Function](t, b.put(t, "/functions/more", guest{size: 1}.wasm()), http.StatusOK)
}

// What reads of a log cost is charged to the project, and no other.
func TestLogBudget(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options) { o.Settings.LogBudget = 10 * readCost })
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	for range 20 {
		must(t, b.bus.PublishLog(t.Context(), "demo", "duel", &pb.LogLines{Instance: "duel-1", Text: "line\n"}))
	}
	eventually(t, "a read beyond the budget", func() error {
		if a := b.get(t, "/functions/duel/log"); a.status == http.StatusOK {
			return errors.New("not refused yet")
		}
		return nil
	})
	a := b.get(t, "/functions/duel/log")
	refused(t, a, http.StatusTooManyRequests, "reads of this project's logs took")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	b.clock.advance(5 * time.Minute)
	wants[response.FunctionLogs](t, b.get(t, "/functions/duel/log"), http.StatusOK)
}

// The machine code of the functions that run, and the modules that are kept, are bounded for each project.
func TestRoomOfAProject(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options) { o.Settings.MachineCode, o.Settings.Modules = 10, 20 })
	change := func(name string, f *pb.Function) {
		t.Helper()
		must(t, b.store.ChangeFunction(t.Context(), "demo", name, func(*pb.Function) (*pb.Function, error) { return f, nil }))
	}
	// Of the versions that are kept, the one that runs has machine code.
	change("old", &pb.Function{Name: "old", Version: 2, Versions: []*pb.FunctionVersion{
		{Version: 2, Bytes: 1 << 20, MachineCode: 5 << 20}, {Version: 1, Bytes: 1 << 20, MachineCode: 5 << 20}}})
	wants[response.Function](t, b.put(t, "/functions/one", guest{}.wasm()), http.StatusOK)
	f, err := b.store.Function(t.Context(), "demo", "one")
	must(t, err)
	if code := f.GetVersions()[0].GetMachineCode(); code < 100 || code > 100_000 {
		t.Errorf("the record says %d bytes of machine code", code)
	}
	change("large", &pb.Function{Name: "large", Version: 1, Versions: []*pb.FunctionVersion{{Version: 1,
		MachineCode: 5<<20 - 100}}})
	refused(t, b.put(t, "/functions/two", guest{size: 2}.wasm()), http.StatusBadRequest,
		"file: the functions of the project would have 11 MiB of machine code together, at most 10 are allowed")
	change("large", &pb.Function{Name: "large", Version: 1, Versions: []*pb.FunctionVersion{{Version: 1, MachineCode: 1,
		Bytes: 18<<20 - 100}}})
	refused(t, b.put(t, "/functions/two", guest{size: 2}.wasm()), http.StatusBadRequest,
		"file: the modules of the project would have 21 MiB together, earlier uploads included, at most 20 are allowed")
	change("large", nil)
	wants[response.Function](t, b.put(t, "/functions/two", guest{size: 2}.wasm()), http.StatusOK)
}

// TestLogPace: what a read costs goes through the project's bucket, so that reads of a long log go slowly.
func TestLogPace(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	const size, messages = bus.MaxLogText, 200
	for range messages {
		must(t, b.bus.PublishLog(t.Context(), "demo", "duel", &pb.LogLines{
			Instance: "duel-1", Text: strings.Repeat("x", size),
		}))
	}
	bucket := func() time.Duration { return b.registry.pace.Reserve("demo", "", readPace) }
	eventually(t, "a read of the whole log", func() error {
		a := b.get(t, "/functions/duel/log")
		if n := len(a.body); n < messages*size {
			return fmt.Errorf("%d bytes", n)
		}
		return nil
	})
	// The bucket is full once, less what the reads took: each byte counts.
	if wait, least := bucket(), messages*size*byteCost+messages*readCost; wait < least {
		t.Errorf("after the reads the bucket lacks %v, want at least %v", wait, least)
	}
	if other := b.registry.pace.Reserve("other", "", readPace); other > 0 {
		t.Errorf("another project waits for %v", other)
	}
}
