package allocator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/process"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
	"matchmaker.dev/services/internal/state"
)

// The steps of a flow at which an allocator is killed. Each is one call of another process. The allocator dies before
// the call arrives, or when the call is executed and the answer is on its way.
var flows = map[string]struct {
	// leave: all players leave while the server is asked for, so no ticket uses it.
	leave bool
	// refuse is the hosting system's reason to give no server, and requeue the config's setting for that.
	refuse  provider.Reason
	requeue string
	steps   []string
}{
	"players get their server":  {steps: []string{"read", "begin", "allocate", "poll", "assign", "acknowledge"}},
	"no ticket uses the server": {leave: true, steps: []string{"assign", "acknowledge", "lend", "release", "returned"}},
	"players get an error":      {refuse: provider.Refused, steps: []string{"allocate", "assign", "acknowledge"}},
	"players wait again": {
		refuse: provider.FleetEmpty, requeue: definition.Requeue, steps: []string{"allocate", "requeue", "acknowledge"},
	},
}

// Promises 3, 7.
func TestAllocatorIsKilledAtEveryStep(t *testing.T) {
	for name, flow := range flows {
		for i, step := range flow.steps {
			for j, when := range []string{"before", "after"} {
				if testing.Short() && i%2 == j%2 {
					continue // each step once
				}
				t.Run(fmt.Sprintf("%s/%s %s", name, when, step), func(t *testing.T) {
					t.Parallel()
					w := prepare(t)
					w.requeue = flow.requeue
					h := &hosting{servers: map[string]string{}, refuse: flow.refuse}
					if flow.leave {
						h.asked = func() { w.leaves("a"); w.leaves("b") }
					}
					heir := w.killedAt(t, h, step, when == "after")
					switch {
					case flow.leave:
						w.waitUntilForgotten("m", h)
					case flow.requeue != "":
						w.waitUntilForgotten("m", h)
						if n, err := w.store.Waiting(t.Context(), project); err != nil || n != 2 {
							t.Errorf("%d of 2 players wait again, %v\n%s", n, err, heir.log)
						}
					case flow.refuse != "":
						for _, id := range []string{"a", "b"} {
							if got := w.result(id); got.GetError() != "AllocationError" || got.GetConnection() != "" {
								t.Errorf("player %s got %v\n%s", id, got, heir.log)
							}
						}
					default:
						w.expectOneServer(t, h, heir)
						return
					}
					waittest.Until(t, "the server to be given back", func() bool { return h.inUse() == 0 })
				})
			}
		}
	}
}

// killedAt kills an allocator that works on a match, and lets another one take over.
func (w *world) killedAt(t *testing.T, h *hosting, step string, after bool) (heir *allocatorProcess) {
	t.Helper()
	k := &killer{step: step, after: after, died: make(chan struct{})}
	h.killer = k
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	h.url = web.URL
	t.Cleanup(func() {
		if h.most > 1 || h.taken > 1 {
			t.Errorf("%d servers were taken for the match, %d of them at once", h.taken, h.most)
		}
	})
	redis, nats := k.relay(t, w.redis, redisSteps), k.relay(t, w.nats, natsSteps)
	w.claim("m", "a", "b")
	victim := launch(t, redis, nats, web.URL, h.search())
	k.arm(victim)
	w.send("m")
	select {
	case <-k.died:
	case <-time.After(patience):
		t.Fatalf("the allocator never came to the step: %s", victim.log)
	}
	h.logInUse(t)
	return launch(t, w.redis, w.nats, web.URL, h.search())
}

// waitUntilForgotten waits until nothing is left to do for a match. The server of a match that was taken over is
// deallocated twice, a minute apart.
func (w *world) waitUntilForgotten(match string, h *hosting) {
	w.t.Helper()
	waittest.Until(w.t, "the end of match "+match, func() bool {
		status, _, err := w.store.GameServer(w.t.Context(), project, match, 0)
		return err == nil && status != state.MatchActive && h.inUse() == 0
	})
	seen := h.releases()
	w.ahead.Add(int64(time.Minute))
	w.options.Provider = &remote{url: h.url}
	w.t.Cleanup(w.run())
	waittest.Until(w.t, "match "+match+" to be forgotten", func() bool {
		if n := h.releases(); n > seen { // the first of the two may come only now
			seen = n
			w.ahead.Add(int64(time.Minute))
		}
		_, err := w.store.Match(w.t.Context(), project, match)
		return problem.KindOf(err) == problem.NotFound
	})
}

// expectOneServer expects that all players get the server that the match has.
func (w *world) expectOneServer(t *testing.T, h *hosting, heir *allocatorProcess) {
	t.Helper()
	connection := w.result("a").GetConnection()
	if got := w.result("b").GetConnection(); got != connection || connection == "" {
		t.Errorf("the players get %q and %q\n%s", connection, got, heir.log)
	}
	// A deallocation by mistake would have happened already.
	if h.connection() != connection {
		t.Errorf("the match has %q, its players get %q", h.connection(), connection)
	}
}

// killer ends a process at a step.
type killer struct {
	step  string
	after bool
	died  chan struct{}

	mu     sync.Mutex
	victim *allocatorProcess
}

// arm names the process.
func (k *killer) arm(p *allocatorProcess) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.victim = p
}

// at is called before and after each step. It is true when it killed the process whose step it is. It kills only once:
// the next process takes the same steps.
func (k *killer) at(step string, after bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.victim == nil || step != k.step || after != k.after {
		return false
	}
	k.victim.Kill()
	k.victim = nil
	close(k.died)
	return true
}

// relay is the URL of a connection to a server that reports steps to the killer. step says which step a message is.
func (k *killer) relay(t *testing.T, to string, step func() func([]byte) string) string {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	server := u.Host
	u.Host = listener.Addr().String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go k.pass(client, server, step())
		}
	}()
	return u.String()
}

// pass forwards what a client and its server send. A client waits for the answer before it sends the next step, so what
// the server sends next is the answer.
func (k *killer) pass(client net.Conn, to string, step func([]byte) string) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	var mu sync.Mutex
	under := ""
	go func() {
		defer client.Close()
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if n > 0 {
				mu.Lock()
				done := under
				under = ""
				mu.Unlock()
				// The script is sent again after NOSCRIPT.
				if done != "" && !bytes.Contains(buf[:n], []byte("NOSCRIPT")) && k.at(done, true) {
					return
				}
				if _, err := client.Write(buf[:n]); err != nil {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if n > 0 {
			if s := step(buf[:n]); s != "" {
				if k.at(s, false) {
					return
				}
				mu.Lock()
				under = s
				mu.Unlock()
				if s == "acknowledge" {
					// It has no answer of its own.
					_, _ = server.Write(buf[:n])
					if k.at(s, true) {
						return
					}
					continue
				}
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// natsSteps finds the acknowledgement of a match.
func natsSteps() func([]byte) string {
	return func(said []byte) string {
		// An acknowledgement is empty or +ACK; +WPI means that work goes on.
		if bytes.Contains(said, []byte("PUB $JS.ACK.MM_MATCHES.")) && bytes.Contains(said, []byte("+ACK")) {
			return "acknowledge"
		}
		return ""
	}
}

// redisSteps recognizes commands by their keys.
func redisSteps() func([]byte) string {
	return func(said []byte) string {
		text := string(said)
		if !strings.Contains(text, ":m:m\r\n") && !strings.Contains(text, ":deallocations\r\n") {
			return ""
		}
		has := func(key string) bool { return strings.Contains(text, "}:"+key+"\r\n") }
		lower := strings.ToLower(text)
		switch script := strings.Contains(lower, "eval"); {
		case !script && strings.Contains(lower, "\r\nhmget\r\n"):
			return "read"
		case script && has("resolved"):
			return "assign"
		case script && has("claims") && has("outbox") && !has("deallocations"):
			return "begin"
		case script && has("claims") && has("outbox"):
			return "requeue"
		case script && has("deallocations") && has("history"):
			return "returned"
		case script && has("deallocations"):
			return "lend"
		}
		return ""
	}
}

// hosting is a hosting system.
type hosting struct {
	killer *killer
	url    string
	// asked is called when a server is asked for.
	asked func()
	// refuse is why it gives no server, "" when it does.
	refuse provider.Reason

	mu      sync.Mutex
	servers map[string]string // connections by allocation
	taken   int               // servers ever
	most    int               // servers at once
	polls   int
	// released is how often a server was deallocated, whether there was one or not.
	released int
}

func (h *hosting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	what := strings.TrimPrefix(r.URL.Path, "/")
	if h.killer.at(what, false) {
		return
	}
	answer := h.do(what, string(id))
	if h.killer.at(what, true) {
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// search is how long allocators try: longer than two of them need to get a server, unless there is none.
func (h *hosting) search() time.Duration {
	if h.refuse == provider.FleetEmpty {
		return 3 * time.Second
	}
	return patience
}

func (h *hosting) do(what, id string) reply {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch connection, there := h.servers[id]; {
	case what == "release":
		h.released++
		delete(h.servers, id)
		return reply{}
	case what == "allocate" && h.refuse != "":
		return reply{Reason: h.refuse}
	case what == "allocate":
		if h.asked != nil {
			h.asked()
			h.asked = nil
		}
		if !there {
			h.taken++
			h.servers[id] = fmt.Sprint("10.0.0.1:", 7000+h.taken)
			h.most = max(h.most, len(h.servers))
		}
		return reply{Status: provider.Pending}
	case !there:
		return reply{Status: provider.Gone}
	case h.polls == 0:
		h.polls++
		return reply{Status: provider.Pending}
	default:
		return reply{Status: provider.Allocated, Connection: connection}
	}
}

// logInUse logs how many servers are allocated.
func (h *hosting) logInUse(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	t.Logf("when the allocator died, %d servers were in use", len(h.servers))
}

func (h *hosting) inUse() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.servers)
}

func (h *hosting) releases() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.released
}

// connection is the match's server's.
func (h *hosting) connection() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, connection := range h.servers {
		return connection
	}
	return ""
}

// allocatorProcess is an allocator that may be killed.
type allocatorProcess struct {
	*process.Process
	log *processtest.Buffer
}

func launch(t *testing.T, redis, nats, hosting string, search time.Duration) *allocatorProcess {
	t.Helper()
	cmd, log := exec.Command(os.Args[0], "allocator", redis, nats, hosting, search.String()), new(processtest.Buffer)
	cmd.Stderr = log
	p, err := process.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return &allocatorProcess{p, log}
}
