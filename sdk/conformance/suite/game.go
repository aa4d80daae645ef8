package suite

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// event is a line of a driver.
type event map[string]any

func (e event) kind() string { return e.text("event") }

func (e event) text(name string) string {
	text, _ := e[name].(string)
	return text
}

// game is a row that is played: a service, and a driver that is started, and perhaps killed and started again. The
// first failure counts; after it all methods return at once.
type game struct {
	row     *Row
	o       Options
	mistake mistake
	service *service
	epoch   time.Time
	storage string
	clock   time.Duration
	more    map[string]any // members of start
	regions []*region
	// tokens answers the event token with a command; the usual one gives a token that lives an hour.
	tokens func(n int) map[string]any

	mu     sync.Mutex
	err    error
	can    []any
	lacks  bool // the SDK cannot do what the row needs
	asked  int  // tokens
	events []event
	seen   int // how many events were expected
	driver *driver
}

// driver is a process.
type driver struct {
	command *exec.Cmd
	in      io.WriteCloser
	errors  bytes.Buffer
	ended   chan struct{}
	err     error
}

func (g *game) fail(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

func (g *game) failed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err != nil || g.lacks
}

func (g *game) check(ok bool, format string, args ...any) {
	if !ok {
		g.fail(format, args...)
	}
}

// now is the time of the service; real is how long a time of it takes.
func (g *game) now() time.Time {
	return g.epoch.Add(time.Duration(float64(time.Since(g.epoch)) / g.row.scale()))
}

func (g *game) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) * g.row.scale())
}

// start starts a driver, once more after kill.
func (g *game) start(ctx context.Context) {
	if g.failed() {
		return
	}
	d := &driver{command: exec.CommandContext(ctx, g.o.Command[0], g.o.Command[1:]...), ended: make(chan struct{})}
	d.command.Stderr = &d.errors
	d.command.Env = os.Environ()
	if g.o.Env != nil {
		d.command.Env = append(d.command.Env, g.o.Env(*g.row)...)
	}
	out, err := d.command.StdoutPipe()
	if err == nil {
		d.in, err = d.command.StdinPipe()
	}
	if err == nil {
		err = d.command.Start()
	}
	if err != nil {
		g.fail("the driver was not started: %v", err)
		return
	}
	g.driver = d
	go g.listen(d, out)
	mode := "player"
	if g.row.Needs == "server" || g.row.Needs == "seats" {
		mode = "server"
	}
	g.do("start", "url", g.service.URL, "project", project, "player", player, "mode", mode, "storage", g.storage,
		"scale", g.row.scale(), "epoch", g.epoch.UnixMilli(), "clock", g.clock.Milliseconds(), "match", "m1",
		"backfill", "", "connection", "203.0.113.7:7777", "", g.more)
	ready := g.expect("ready")
	g.can, _ = ready["can"].([]any)
	if !g.failed() && !slices.Contains(g.can, any(g.row.Needs)) {
		g.mu.Lock()
		g.lacks = true
		g.mu.Unlock()
	}
}

// listen takes the events of a driver until it ends.
func (g *game) listen(d *driver, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.kind() == "" {
			g.fail("the driver wrote %q, which is no event", lines.Text())
			continue
		}
		all := []event{e}
		if g.mistake.event != nil {
			all = g.mistake.event(e)
		}
		g.mu.Lock()
		g.events = append(g.events, all...)
		answer, n := g.tokens, g.asked
		if e.kind() == "token" {
			n++
			g.asked = n
		}
		g.mu.Unlock()
		if e.kind() == "token" {
			g.do("token", "", answer(n))
		}
	}
	_, _ = io.Copy(io.Discard, out)
	d.err = d.command.Wait()
	close(d.ended)
}

// do sends a command: names and values in turns. A map stands for its members.
func (g *game) do(what string, members ...any) {
	if g.failed() {
		return
	}
	c := map[string]any{"do": what}
	for i := 0; i+1 < len(members); i += 2 {
		if all, is := members[i+1].(map[string]any); is && members[i] == "" {
			for name, value := range all {
				c[name] = value
			}
			continue
		}
		name, _ := members[i].(string)
		c[name] = members[i+1]
	}
	if g.mistake.command != nil {
		g.mistake.command(c)
	}
	text, err := json.Marshal(c)
	if err == nil {
		_, err = g.driver.in.Write(append(text, '\n'))
	}
	if err != nil {
		g.fail("the command %s could not be sent: %v", what, err)
	}
}

// ends are the events after which a search, or what else was asked for, is over.
var ends = []string{"matched", "failed", "cancelled", "error", "idle", "left", "unsupported"}

// expect waits for the next event of one of some kinds. Another end is a failure.
func (g *game) expect(kinds ...string) (found event) {
	what := strings.Join(kinds, " or ")
	g.until("the event "+what, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		for ; g.seen < len(g.events); g.seen++ {
			e := g.events[g.seen]
			if slices.Contains(kinds, e.kind()) {
				found = e
				g.seen++
				return true
			}
			if slices.Contains(ends, e.kind()) && g.err == nil {
				g.err = fmt.Errorf("the event %v came, and not %s", e, what)
			}
		}
		return false
	})
	return found
}

// all are the events so far.
func (g *game) all() []event {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.events)
}

// count is how many events of a kind there were.
func (g *game) count(kind string) (n int) {
	for _, e := range g.all() {
		if e.kind() == kind {
			n++
		}
	}
	return n
}

// until waits for a condition.
func (g *game) until(what string, holds func() bool) {
	deadline, look := time.NewTimer(g.o.Patience+g.real(g.row.Lasts)), time.NewTicker(2*time.Millisecond)
	defer deadline.Stop()
	defer look.Stop()
	for !g.failed() && !holds() {
		select {
		case <-look.C:
		case <-deadline.C:
			all := g.all()
			g.fail("in vain it was waited for %s; the last event is %v", what, all[max(0, len(all)-1):])
		case <-g.driver.ended:
			if !g.failed() && !holds() {
				g.fail("the driver ended: %v", g.driver.err)
			}
		}
	}
}

// passes lets some time of the service pass.
func (g *game) passes(d time.Duration) {
	if g.failed() {
		return
	}
	end := time.NewTimer(g.real(d))
	defer end.Stop()
	<-end.C
}

// settled waits until all that the driver was sent before is read, by a command that it does not know.
func (g *game) settled() {
	g.do("nothing")
	g.until("an answer to an unknown command", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		last := len(g.events) - 1
		is := last >= 0 && g.events[last].kind() == "unsupported"
		if is {
			g.seen = len(g.events)
		}
		return is
	})
}

// waitForCalls waits for the n-th call of one of some kinds, and returns those calls.
func (g *game) waitForCalls(n int, kinds ...string) []*call {
	g.until(fmt.Sprintf("request %d of %v", n, kinds), func() bool { return len(g.service.of(kinds...)) >= n })
	calls := g.service.of(kinds...)
	if len(calls) < n { // it has failed; rows may look at calls nevertheless
		for range n {
			calls = append(calls, &call{Request: new(http.Request), Kind: "none"})
		}
	}
	return calls
}

// search begins a search.
func (g *game) search(ctx context.Context) {
	g.start(ctx)
	g.do("search", "queues", []string{"ranked"}, "attributes", map[string]float64{"skill": 1200})
}

// following begins a search, and waits until its ticket is followed.
func (g *game) following(ctx context.Context) {
	g.search(ctx)
	g.waitForCalls(1, "events", "read")
	g.expect("searching")
}

// match ends the search with a match.
func (g *game) match() event {
	g.service.set("assigned", "")
	return g.expect("matched")
}

// one checks that no request was lost on the way to one ticket.
func (g *game) one() {
	g.service.mu.Lock()
	defer g.service.mu.Unlock()
	g.check(len(g.service.tickets) == 1, "%d tickets were created, and not one", len(g.service.tickets))
}

// waited checks that the n-th call came no sooner than some time after the one before, which was answered at once.
func (g *game) waited(calls []*call, n int, least time.Duration) {
	const early = 2 * time.Millisecond // timers of other languages have milliseconds
	if g.failed() {
		return
	}
	wait := calls[n].Began.Sub(calls[n-1].Began)
	g.check(wait >= g.real(least)-early, "%s %d came %.1f s after the one before, %.1f s at least are expected",
		calls[n].Kind, n+1, wait.Seconds()/g.row.scale(), least.Seconds())
}

// within checks that the n-th call came within some time from when the one before came.
func (g *game) within(calls []*call, n int, most time.Duration) {
	if g.failed() {
		return
	}
	wait := calls[n].Began.Sub(calls[n-1].Began)
	g.check(wait <= g.real(most), "%s %d came %.1f s after the one before, %.1f s at most are expected",
		calls[n].Kind, n+1, wait.Seconds()/g.row.scale(), most.Seconds())
}

// kill ends the driver as a crash does.
func (g *game) kill() {
	if g.driver != nil {
		_ = g.driver.command.Process.Kill()
		<-g.driver.ended
	}
}

// stop ends the driver in good order.
func (g *game) stop() {
	if g.driver == nil {
		return
	}
	_ = g.driver.in.Close()
	select {
	case <-g.driver.ended:
		g.check(g.driver.err == nil, "the driver ended: %v", g.driver.err)
	case <-time.After(g.o.Patience):
		g.fail("the driver did not end when its input did")
		g.kill()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil && g.driver.errors.Len() > 0 {
		text := strings.TrimSpace(g.driver.errors.String())
		g.err = fmt.Errorf("%w; the driver said: %s", g.err, text[:min(len(text), 400)])
	}
}

// token is a token that lives for some time, and differs from others.
func (g *game) token(life time.Duration) map[string]any {
	_, key, _ := ed25519.GenerateKey(nil)
	now := g.now()
	claims := map[string]any{"sub": player, "iat": now.Unix(), "exp": now.Add(life).Unix()}
	return map[string]any{"token": jwt(key, claims)}
}
