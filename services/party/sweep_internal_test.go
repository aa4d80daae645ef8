package party

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/state"
)

// swept is the sweep of a project whose clock, and Redis's, is now.
type swept struct {
	*sweeper

	t   *testing.T
	url string
	log processtest.Buffer
	now time.Time
}

func newSwept(t *testing.T) *swept {
	t.Helper()
	w := &swept{t: t, url: embeddedtest.Redis(t), now: time.Unix(1_700_000_000, 0)}
	clock, log := func() time.Time { return w.now }, slog.New(slog.NewTextHandler(&w.log, nil))
	store, err := state.Open(state.Options{Server: state.Server{URL: w.url}, Log: log, Clock: clock})
	w.must(err)
	t.Cleanup(func() { _ = store.Close() })
	s := &service{Options: Options{Store: store, Bus: embeddedtest.Bus(t, bus.Options{}), Log: log, Now: clock,
		Settings: Settings{Parties: 100, Silence: 10 * time.Second}}}
	s.sweeper = newSweeper(s)
	w.sweeper = s.sweeper
	return w
}

func (w *swept) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// party stores a party of a player.
func (w *swept) party(id string) {
	w.t.Helper()
	p := &pb.Party{Id: id, Code: "code " + id, Leader: "player " + id, Size: 2,
		Members: []*pb.Member{{Player: "player " + id}}}
	w.must(w.Store.CreateParty(w.t.Context(), "demo", p, w.Settings.limits()))
}

// redis sends a command with words without spaces, which changes something.
func (w *swept) redis(command string) {
	w.t.Helper()
	at, err := url.Parse(w.url)
	w.must(err)
	conn, err := new(net.Dialer).DialContext(w.t.Context(), "tcp", at.Host)
	w.must(err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "SELECT %s\r\n%s\r\nQUIT\r\n", strings.TrimPrefix(at.Path, "/"), command)
	w.must(err)
	answer, err := io.ReadAll(conn)
	w.must(err)
	if lines := strings.Split(string(answer), "\r\n"); lines[0] != "+OK" || !strings.HasPrefix(lines[1], ":") {
		w.t.Fatalf("%s: %q", command, answer)
	}
}

// sweeps lets a time pass, with its sweeps.
func (w *swept) sweeps(d time.Duration) {
	w.t.Helper()
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(w.every) {
		w.must(w.sweep(w.t.Context(), "demo"))
	}
}

// left lists the parties of some that are there.
func (w *swept) left(ids ...string) (left []string) {
	w.t.Helper()
	for _, id := range ids {
		player, err := w.Store.PartyOf(w.t.Context(), "demo", "player "+id)
		if w.must(err); player != "" {
			left = append(left, id)
		}
	}
	return left
}

// A party that cannot be read, and one that does not say when it heard of its member, are looked at before another one.
// The first is tried again until it can be read, and is in the log once.
func TestPartyThatFailsHoldsUpNoOther(t *testing.T) {
	w := newSwept(t)
	for _, id := range []string{"1-broken", "2-odd", "3-good"} {
		w.party(id)
	}
	w.redis("COPY mm:{demo}:pa:1-broken mm:{demo}:spare")
	w.redis("HSET mm:{demo}:pa:1-broken b broken")
	w.redis(`HSET mm:{demo}:pa:2-odd "h:player 2-odd" odd`)
	w.sweeps(3 * w.Settings.Silence)
	if left := w.left("1-broken", "2-odd", "3-good"); fmt.Sprint(left) != "[1-broken]" {
		t.Errorf("left are %v", left)
	}
	w.sweeps(6 * retryAfter)
	if n := strings.Count(w.log.String(), "party=1-broken"); n != 1 {
		t.Errorf("it is in the log %d times:\n%s", n, w.log.String())
	}
	w.redis("COPY mm:{demo}:spare mm:{demo}:pa:1-broken REPLACE")
	w.sweeps(2 * retryAfter)
	if left := w.left("1-broken"); len(left) > 0 || len(w.failing) > 0 {
		t.Errorf("left are %v, and failing %v", left, w.failing)
	}
}

// Where many parties fail, the state store may be away: a sweep tries few of them, and the next one goes on.
func TestSweepEndsWhenManyPartiesFail(t *testing.T) {
	w := newSwept(t)
	for i := range 2*mostFailures + 1 {
		id := fmt.Sprintf("%02d", i)
		w.party(id)
		w.redis("HSET mm:{demo}:pa:" + id + " b broken")
	}
	w.party("good")
	w.sweeps(w.Settings.Silence)
	for n := 1; n <= 2; n++ {
		w.sweeps(w.every)
		if len(w.failing) != n*mostFailures {
			t.Errorf("sweep %d: %d fail, want %d", n, len(w.failing), n*mostFailures)
		}
	}
	w.sweeps(w.Settings.Silence)
	if left := w.left("good"); len(left) > 0 {
		t.Error("the party behind them is left")
	}
}
