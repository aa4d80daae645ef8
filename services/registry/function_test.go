package registry

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/response"
)

func TestReadAndDelete(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	same(t, b.get(t, "/functions"), http.StatusOK, `{"functions":[]}`)
	refused(t, b.get(t, "/functions/duel"), http.StatusNotFound, `function "duel" was not found`)
	refused(t, b.get(t, "/functions/du!el"), http.StatusBadRequest, "name: ")
	refused(t, b.do(t, http.MethodDelete, "/functions/-", nil), http.StatusBadRequest, "name: ")

	// "actions" is the beginning of another path.
	for _, name := range []string{"duel", "actions", "a.b"} {
		wants[response.Function](t, b.put(t, "/functions/"+name, guest{}.wasm()), http.StatusOK)
	}
	b.hasOnly(t, "a.b", "actions", "duel")
	wants[response.FunctionLogs](t, b.get(t, "/functions/actions/log"), http.StatusOK)
	wants[response.Function](t, b.get(t, "/functions/ACT%69ONS"), http.StatusOK)
	for range 2 {
		if a := b.do(t, http.MethodDelete, "/functions/Actions", nil); a.status != http.StatusNoContent || len(a.body) > 0 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	b.hasOnly(t, "a.b", "duel")
}

func TestRestart(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	for _, name := range []string{"duel", "trio", "other"} {
		wants[response.Function](t, b.put(t, "/functions/"+name, guest{}.wasm()), http.StatusOK)
	}
	before := b.generations(t)
	b.clock.advance(time.Second)

	refused(t, b.restart(t, `{"functions":[]}`), http.StatusBadRequest, "functions: ")
	refused(t, b.restart(t, `{"functions":[null]}`), http.StatusBadRequest, "functions.0: ")
	refused(t, b.restart(t, `{"functions":"duel"}`), http.StatusBadRequest, "functions: an array is expected")
	refused(t, b.restart(t, `{"functions":["duel","nobody","no name"]}`), http.StatusNotFound, `"nobody", "no name"`)
	if diff := cmp.Diff(before, b.generations(t)); diff != "" {
		t.Errorf("restarted although refused (-before +after):\n%s", diff)
	}

	same(t, b.restart(t, `{"functions":["trio","DUEL","duel"]}`), http.StatusOK,
		`{"functions":[{"name":"trio","state":"Pending"},{"name":"duel","state":"Pending"}]}`)
	now := b.clock.now().UnixMilli()
	if diff := cmp.Diff(map[string]int64{"duel": now, "trio": now, "other": before["other"]},
		b.generations(t)); diff != "" {
		t.Errorf("generations differ (-want +got):\n%s", diff)
	}
	f := wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK)
	if f.Updated != f.Created {
		t.Errorf("a restart is no update: %+v", f)
	}
}

func (b *bench) generations(t *testing.T) map[string]int64 {
	t.Helper()
	functions, err := b.store.Functions(t.Context(), "demo")
	must(t, err)
	all := map[string]int64{}
	for name, f := range functions {
		all[name] = f.GetGeneration()
	}
	return all
}

func TestStatusFollowsHeartbeats(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	generation := b.generations(t)["duel"]
	say := func(state string) {
		must(t, b.bus.Heartbeat(t.Context(), &pb.RunnerStatus{Runner: "r", Instances: []*pb.InstanceStatus{
			{Project: "demo", Function: "duel", Name: "duel-1", State: state, Generation: generation},
			{Project: "else", Function: "duel", Name: "duel-2", State: "Running", Generation: generation},
		}}))
	}
	say("Terminated")
	eventually(t, "failed", func() error { return b.isState(t, "duel", "Failed") })
	say("Running")
	eventually(t, "running", func() error { return b.isState(t, "duel", "Running") })
	got := wants[response.Function](t, b.get(t, "/functions/duel"), http.StatusOK).Status
	if diff := cmp.Diff(response.FunctionStatus{State: "Running",
		Instances: []response.FunctionInstance{{State: "Running", Name: "duel-1"}}}, got); diff != "" {
		t.Errorf("status differs (-want +got):\n%s", diff)
	}
	same(t, b.get(t, "/functions/duel/log"), http.StatusOK, `{"logs":{"duel-1":""}}`)
	// The runner dies.
	b.clock.advance(20 * time.Second)
	same(t, b.get(t, "/functions/duel/log"), http.StatusOK, `{"logs":{}}`)
	must(t, b.isState(t, "duel", "Not Running"))
}

func TestLogs(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	write := func(instance, text string) {
		must(t, b.bus.PublishLog(t.Context(), "demo", "duel",
			&pb.LogLines{Instance: instance, Time: time.Now().UnixMilli(), Text: text}))
	}
	read := func(query string) map[string]string {
		return wants[response.FunctionLogs](t, b.get(t, "/functions/duel/log"+query), http.StatusOK).Logs
	}
	refused(t, b.get(t, "/functions/duel/log"), http.StatusNotFound, `function "duel" was not found`)
	refused(t, b.get(t, "/functions/d%20l/log"), http.StatusBadRequest, "name: ")
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	for _, seconds := range []string{"", "0", "-1", "1.5", "many", "86401", "99999999999999999999"} {
		refused(t, b.get(t, "/functions/duel/log?seconds="+seconds), http.StatusBadRequest,
			"seconds: invalid time range: a whole number from 1 to 86400")
	}
	refused(t, b.get(t, "/functions/duel/log?seconds=%zz"), http.StatusBadRequest, "the query cannot be read")
	refused(t, b.get(t, "/functions/"), http.StatusBadRequest, "name: missing")
	if got := read(""); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	write("duel-1", "started\n")
	write("duel-2", "started\n")
	write("duel-1", "one\ntwo\nthree, which is")
	write("duel-1", " long\n")
	want := map[string]string{"duel-1": "started\none\ntwo\nthree, which is long", "duel-2": "started"}
	eventually(t, "logs", func() error {
		if diff := cmp.Diff(want, read("?seconds=86400")); diff != "" {
			return fmt.Errorf("logs differ (-want +got):\n%s", diff)
		}
		return nil
	})

	// The registry's clock is an hour behind the clock of the bus, which stamps the lines.
	b.clock.advance(time.Hour + 10*time.Minute)
	if diff := cmp.Diff(want, read("")); diff != "" {
		t.Errorf("half an hour differs (-want +got):\n%s", diff)
	}
	if got := read("?seconds=60"); len(got) > 0 {
		t.Errorf("a minute: got %v", got)
	}
	// What follows is another function, though it has the same name.
	if a := b.do(t, http.MethodDelete, "/functions/duel", nil); a.status != http.StatusNoContent {
		t.Fatalf("delete: %d", a.status)
	}
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	if got := read(""); len(got) > 0 {
		t.Errorf("lines of a deleted function: %v", got)
	}
}

// A log is followed by asking with the position of the answer before.
func TestLogIsFollowed(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	write := func(text string) {
		must(t, b.bus.PublishLog(t.Context(), "demo", "duel", &pb.LogLines{Instance: "duel-1", Text: text}))
	}
	position := ""
	read := func(query string) string {
		a := b.get(t, "/functions/duel/log"+query)
		position = a.header.Get("X-Log-Position")
		return wants[response.FunctionLogs](t, a, http.StatusOK).Logs["duel-1"]
	}
	until := func(want string) {
		t.Helper()
		got := ""
		eventually(t, want, func() error {
			if got += read("?after=" + position); got != want {
				return fmt.Errorf("got %q", got)
			}
			return nil
		})
	}
	if got := read(""); got != "" || position == "" {
		t.Fatalf("got %q at %q", got, position)
	}
	write("one")
	until("one")
	write("two")
	// However late it is asked for, and unless it is asked for with a time.
	b.clock.advance(3 * time.Hour)
	at := position
	until("two")
	if got := read("?seconds=60&after=" + at); got != "" {
		t.Errorf("of the last minute: %q", got)
	}
	if got := read("?after=" + position); got != "" {
		t.Errorf("came again: %q", got)
	}
	for _, after := range []string{"", "-1", "one", "1.5", "99999999999999999999"} {
		refused(t, b.get(t, "/functions/duel/log?after="+after), http.StatusBadRequest, "after: a position is expected")
	}
}

func TestRecentLines(t *testing.T) {
	lines := []*pb.LogLines{
		{Instance: "old", Text: strings.Repeat("x", 10) + "\n"},
		{Instance: "a", Text: strings.Repeat("x", 10) + "\n"},
		{Instance: "a", Text: "second\n"},
		{Instance: "b", Text: "third\n"},
	}
	for room, want := range map[int]map[string]string{
		100: {"old": "xxxxxxxxxx", "a": "xxxxxxxxxx\nsecond", "b": "third"},
		24:  {"old": omittedLines, "a": "xxxxxxxxxx\nsecond", "b": "third"},
		23:  {"old": omittedLines, "a": omittedLines + "\nsecond", "b": "third"},
		0:   {"old": omittedLines, "a": omittedLines, "b": omittedLines},
	} {
		r := recent{bytesLeft: room}
		for _, l := range lines {
			r.push(l)
		}
		if diff := cmp.Diff(want, r.texts()); diff != "" {
			t.Errorf("the newest of %d bytes (-want +got):\n%s", room, diff)
		}
	}
	for room, want := range map[int]int{100: 4, 35: 4, 34: 3, 22: 2, 21: 1, 0: 1} {
		r, n := recent{bytesLeft: room}, 0
		for n < len(lines) && r.add(lines[n]) {
			n++
		}
		if n != want {
			t.Errorf("the oldest of %d bytes: %d, want %d", room, n, want)
		}
	}
}

// A log longer than an answer: the newest of it at first, and the whole log for a reader that follows it.
func TestLogLongerThanAnAnswer(t *testing.T) {
	t.Parallel()
	const limit = 100 * bus.MaxLogText
	b := start(t, func(o *Options) { o.LogAnswer = limit })
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	const messages = limit / bus.MaxLogText * 5 / 2
	rest := strings.Repeat("x", bus.MaxLogText-7)
	line := func(n int) string { return fmt.Sprintf("%05d ", n) + rest }
	write := func(n int) {
		must(t, b.bus.PublishLog(t.Context(), "demo", "duel", &pb.LogLines{Instance: "duel-1", Text: line(n) + "\n"}))
	}
	write(0)
	position := ""
	eventually(t, "the first line", func() error {
		a := b.get(t, "/functions/duel/log")
		if len(wants[response.FunctionLogs](t, a, http.StatusOK).Logs) == 0 {
			return errors.New("there is no line")
		}
		position = a.header.Get(positionHeader)
		return nil
	})
	for n := 1; n < messages; n++ {
		write(n)
	}
	read := func(query string) (lines []string, next string) {
		a := b.get(t, "/functions/duel/log"+query)
		text := wants[response.FunctionLogs](t, a, http.StatusOK).Logs["duel-1"]
		if len(text) > limit+len(omittedLines) {
			t.Errorf("an answer of %d bytes", len(text))
		}
		for l := range strings.SplitSeq(text, "\n") {
			lines = append(lines, strings.TrimSuffix(l, " "+rest))
		}
		return lines, a.header.Get(positionHeader)
	}
	eventually(t, "the newest", func() error {
		lines, _ := read("")
		if last := lines[len(lines)-1]; last != fmt.Sprintf("%05d", messages-1) {
			return fmt.Errorf("the last is %s", last)
		}
		if lines[0] != omittedLines {
			t.Errorf("the first is %s", lines[0])
		}
		return nil
	})
	next := 1
	for range 3 { // two and a half answers
		var lines []string
		lines, position = read("?after=" + position)
		for _, l := range lines {
			if l != fmt.Sprintf("%05d", next) {
				t.Fatalf("after %d comes %q", next-1, l)
			}
			next++
		}
	}
	if next != messages {
		t.Errorf("%d lines, want %d", next, messages)
	}
}

// Restarting is expensive for runners: a project may do it often, and not all the time.
func TestRestartsAreBounded(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	names := make([]string, 19)
	for i := range names {
		names[i] = fmt.Sprintf(`"f%02d"`, i)
		must(t, b.store.ChangeFunction(t.Context(), "demo", strings.Trim(names[i], `"`),
			func(*pb.Function) (*pb.Function, error) { return &pb.Function{Name: strings.Trim(names[i], `"`)}, nil }))
	}
	all := `{"functions":[` + strings.Join(names, ",") + `]}`
	for size := range 3 {
		wants[response.Function](t, b.put(t, "/functions/duel", guest{size: size + 1}.wasm()), http.StatusOK)
	}
	for range restartRate().Burst / len(names) {
		wants[response.RestartResult](t, b.restart(t, all), http.StatusOK)
	}
	refused(t, b.restart(t, all), http.StatusTooManyRequests, "a second are allowed")
	// Uploads and rollbacks restart functions as well. An upload is refused before the module is read.
	refused(t, b.put(t, "/functions/duel", []byte("no module")), http.StatusTooManyRequests, "a second are allowed")
	refused(t, b.rollback(t, "duel", `{"version":1}`), http.StatusTooManyRequests, "a second are allowed")
	b.clock.advance(40 * time.Second)
	wants[response.RestartResult](t, b.restart(t, all), http.StatusOK)
}
