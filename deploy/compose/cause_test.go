package compose

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

const hosted = `, "hosting": {"Profile": "default", "FleetId": "local"}`

// api is a client that tries each request once: some are meant to fail.
func (m *monitor) api(ctx context.Context, t *testing.T, project string, kind ...string) *client.Client {
	t.Helper()
	token := m.mm(ctx, t, project, append(append([]string{"token"}, kind...), "--ttl", "3h")...)
	api, err := client.New(client.Options{
		URL: "http://127.0.0.1:8080", Project: project, Token: client.StaticToken(token), HTTP: m.engine.client(),
		Retry: client.Retry{Attempts: -1, Reconnects: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// come lets a player come now and then. skills are the skills of the first, the second and so on.
func (m *monitor) come(ctx context.Context, t *testing.T, project string, pause time.Duration, skill func(int) float64,
	queues ...string,
) (stop func()) {
	t.Helper()
	api := m.api(ctx, t, project, "service")
	return often(ctx, pause, func(ctx context.Context, number int) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		request := client.TicketRequest{
			Player:     fmt.Sprintf("player-%d-%d", time.Now().Unix(), number),
			Attributes: map[string]float64{"skill": skill(number), "number": float64(number)},
		}
		if len(queues) > 0 {
			request.Queues = []string{queues[number%len(queues)]}
		}
		_, _ = api.CreateTicket(ctx, request) // that an alert fires is what shows that they came
	})
}

// same is the skill of players that can be matched, far of players that cannot.
func same(int) float64       { return 1500 }
func far(number int) float64 { return float64(1000 * number) }

// waitForNobody lets more players wait than may. In the end they are matched.
func waitForNobody(ctx context.Context, t *testing.T, m *monitor) func() {
	m.configured(ctx, t, "stuck", "duel", `{"window": 1, "widen": 0}`, "")
	stop := m.come(ctx, t, "stuck", 100*time.Millisecond, far)
	return func() {
		stop()
		m.config(ctx, t, "stuck", "main", "duel", `{"window": 1e9, "timeout": 60}`, "")
	}
}

// giveUp lets players come that find no opponent within a second.
func giveUp(ctx context.Context, t *testing.T, m *monitor) func() {
	m.configured(ctx, t, "late", "duel", `{"window": 1, "widen": 0, "timeout": 1}`, "")
	return m.come(ctx, t, "late", 500*time.Millisecond, far)
}

func panics(ctx context.Context, t *testing.T, m *monitor) func() {
	m.configured(ctx, t, "broken", "actor", `{"part": "panic"}`, "")
	stop := m.come(ctx, t, "broken", time.Second, same)
	return func() {
		stop()
		m.config(ctx, t, "broken", "main", "actor", `{"part": "fail", "failure": "over"}`, "")
	}
}

// oneServer lets more matches come than there are servers. In the end they need none.
func oneServer(ctx context.Context, t *testing.T, m *monitor) func() {
	m.configured(ctx, t, "hosted", "duel", `{}`, hosted)
	stop := m.come(ctx, t, "hosted", 250*time.Millisecond, same)
	return func() {
		stop()
		m.config(ctx, t, "hosted", "main", "duel", `{"timeout": 60}`, "")
	}
}

// approveNobody has running games whose servers never approve the proposed players.
func approveNobody(ctx context.Context, t *testing.T, m *monitor) func() {
	m.configured(ctx, t, "games", "duel", `{"window": 10, "widen": 0}`, "")
	server := m.api(ctx, t, "games", "server", "server-1")
	const games = 12
	var ids []string
	for i := range games {
		id, err := server.CreateBackfill(ctx, client.BackfillRequest{
			Connection: fmt.Sprintf("127.0.0.1:%d", 9000+i), Attributes: map[string]float64{"skill": far(i), "open": 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	stop := m.come(ctx, t, "games", 250*time.Millisecond, func(number int) float64 { return far(number % games) })
	return func() {
		stop()
		for _, id := range ids {
			if err := server.DeleteBackfill(ctx, id); err != nil {
				t.Errorf("deleting a backfill ticket: %v", err)
			}
		}
		m.config(ctx, t, "games", "main", "duel", `{"window": 10, "widen": 0, "timeout": 1}`, "")
	}
}

// compute lets functions compute for longer than a project may.
func compute(ctx context.Context, t *testing.T, m *monitor) func() {
	const many = 8
	m.mm(ctx, t, "busy", "function", "put", "actor", "bin/functions/actor.zip")
	var queues []string
	for i := range many {
		queues = append(queues, fmt.Sprintf("queue-%d", i))
	}
	set := func(settings string) {
		for _, name := range queues {
			m.config(ctx, t, "busy", name, "actor", settings, fmt.Sprintf(`, "queue": %q`, name))
		}
	}
	set(`{"work": 400000000}`)
	stop := m.come(ctx, t, "busy", 20*time.Millisecond, same, queues...)
	return func() { stop(); set(`{}`) }
}

// without kills a container, which is not started again until the end, while players come that need servers: so slowly
// that max-waiting refuses none as long as an alert may take.
func without(service string) func(ctx context.Context, t *testing.T, m *monitor) func() {
	return func(ctx context.Context, t *testing.T, m *monitor) func() {
		m.configured(ctx, t, "without-"+service, "duel", `{}`, hosted)
		stop := m.come(ctx, t, "without-"+service, patience/150, same)
		m.compose(ctx, t, "kill", service)
		return func() {
			stop()
			m.compose(ctx, t, "start", service)
			m.engine.awaitHealthy(ctx, t, service)
			m.mm(ctx, t, "without-"+service, "config", "delete", "main")
		}
	}
}

// fullRedis leaves Redis less memory than creates leave free.
func fullRedis(ctx context.Context, t *testing.T, m *monitor) func() {
	m.configured(ctx, t, "full", "duel", `{}`, "")
	stop := m.come(ctx, t, "full", 100*time.Millisecond, same)
	limit := func(bytes string) {
		m.compose(ctx, t, "exec", "-T", "redis", "redis-cli", "config", "set", "maxmemory", bytes)
	}
	var used int
	for line := range strings.Lines(m.compose(ctx, t, "exec", "-T", "redis", "redis-cli", "info", "memory")) {
		if value, ok := strings.CutPrefix(line, "used_memory:"); ok {
			used, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	if used == 0 {
		t.Fatal("Redis does not say how much memory it uses")
	}
	limit(strconv.Itoa(used + used/20))
	return func() { stop(); limit("1gb") }
}

// fullQueue lets JetStream take no match any more.
func fullQueue(ctx context.Context, t *testing.T, m *monitor) func() {
	m.configured(ctx, t, "queued", "duel", `{}`, hosted)
	address := m.address(ctx, t, "nats") + ":4222"
	var before struct{ Config map[string]any }
	m.jetStream(ctx, t, address, "STREAM.INFO.MM_MATCHES", nil, &before)
	change := func(config map[string]any) {
		m.jetStream(ctx, t, address, "STREAM.UPDATE.MM_MATCHES", config, &struct{}{})
	}
	full := maps.Clone(before.Config)
	full["max_bytes"], full["discard"] = 1, "new"
	change(full)
	stop := m.come(ctx, t, "queued", 10*time.Millisecond, same)
	return func() {
		stop()
		change(before.Config)
		m.mm(ctx, t, "queued", "config", "delete", "main")
	}
}

// jetStream asks NATS's JetStream, in its own words.
func (m *monitor) jetStream(ctx context.Context, t *testing.T, address, subject string, ask, answer any) {
	t.Helper()
	body := []byte{}
	if ask != nil {
		var err error
		if body, err = json.Marshal(ask); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := m.engine.dial(ctx, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	conn := textproto.NewConn(raw)
	if err := conn.PrintfLine("CONNECT {\"verbose\":false}\r\nSUB answer 1\r\nPUB $JS.API.%s answer %d\r\n%s", subject,
		len(body), body); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := conn.ReadLine()
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(line)
		if len(fields) > 0 && fields[0] == "-ERR" {
			t.Fatal(line)
		}
		if len(fields) < 4 || fields[0] != "MSG" {
			continue
		}
		size, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			t.Fatal(line)
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(conn.R, text); err != nil {
			t.Fatal(err)
		}
		var said struct{ Error *struct{ Description string } }
		if err := json.Unmarshal(text, &said); err != nil || said.Error != nil {
			t.Fatalf("%s: %v %+v\n%s", subject, err, said.Error, text)
		}
		if err := json.Unmarshal(text, answer); err != nil {
			t.Fatal(err)
		}
		return
	}
}
