package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/bustest"
	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// said keeps what is logged.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// configured starts a NATS server with settings of its own.
func configured(t *testing.T, settings string, log *slog.Logger) *embedded.NATS {
	t.Helper()
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: t.TempDir(), Settings: file, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// everybody are the accounts that a server of the tests has.
func everybody() []string {
	return append(account.Names(), account.All)
}

func passwordOf(name string) string { return "the-password-of-" + name }

// permitting starts a server with a user for each account. refusals is what the server says of importance.
func permitting(t *testing.T) (url string, refusals *said) {
	t.Helper()
	refusals = new(said)
	n := configured(t, bus.Users(everybody(), func(name string) string { return fmt.Sprintf("%q", passwordOf(name)) }),
		slog.New(slog.NewTextHandler(refusals, &slog.HandlerOptions{Level: slog.LevelWarn})))
	return n.URL(), refusals
}

// member is a bus of an account.
func member(t *testing.T, url, name string, log *slog.Logger) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{
		Server: bus.Server{URL: url}, Name: name, Service: name, Log: log, Logs: bus.Logs{Total: 1},
		Events: bus.Events{Bytes: 16 * bus.MaxEventBytes},
		Login:  account.Login{User: account.User(name), Password: func() (string, error) { return passwordOf(name), nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

// TestEachServiceMayDoWhatItDoes: all that the services say to each other passes a server on which each has its own
// rights, and neither the server nor any of them has anything to complain about.
func TestEachServiceMayDoWhatItDoes(t *testing.T) {
	t.Parallel()
	url, refusals := permitting(t)
	log := new(said)
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	buses := map[string]*bus.Bus{}
	for _, name := range catalog.Names() {
		buses[name] = member(t, url, name, logger)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", what, err, refusals, log)
		}
	}
	// Accounts that make no streams wait for the accounts that do.
	var ready sync.WaitGroup
	for _, b := range buses {
		ready.Go(func() { _ = b.Prepare(ctx) })
	}
	ready.Wait()
	for name, b := range buses {
		must(name+" is ready", b.Ready(ctx))
	}

	pokes, beats, assigned := make(chan string, 64), make(chan string, 64), make(chan string, 64)
	_, err := buses[catalog.Director].OnPoke(func(string, *pb.Poke) { pokes <- "" })
	must("hear pokes", err)
	_, err = buses[catalog.Runner].OnFunctions(func(string, *pb.Poke) { pokes <- "" })
	must("hear of functions", err)
	for _, name := range []string{catalog.Director, catalog.Runner, catalog.Registry} {
		_, err := buses[name].OnHeartbeat(func(*pb.RunnerStatus) { beats <- name })
		must("hear heartbeats", err)
	}
	_, err = buses[catalog.Ticket].OnResults(func(string, bus.Assigned) { assigned <- "" })
	must("hear results", err)
	changed := make(chan string, 64)
	_, err = buses[catalog.Party].OnParty(func(project string, c *pb.PartyChanged) {
		changed <- project + "/" + c.GetParty()
	})
	must("hear parties", err)
	heard := make(chan bool, 1)
	_, err = buses[catalog.Director].OnTicketHeartbeat(func(*pb.TicketStatus) { heard <- true })
	must("hear ticket services", err)
	_, err = buses[catalog.Ticket].OnEvents("demo", func(*pb.Events) {})
	must("hear events", err)
	_, err = buses[catalog.Runner].ServeRuns("r", "demo", "duel",
		func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
			_ = answer(&pb.RunPart{Last: true})
		})
	must("serve runs", err)
	for _, b := range buses {
		must("ping", b.Ping(ctx))
	}
	for _, name := range except(catalog.Runner) {
		buses[name].Poke(ctx, "demo", &pb.Poke{})
		next(t, pokes)
	}
	for _, name := range []string{catalog.Config, catalog.Registry} {
		buses[name].Poke(ctx, "demo", &pb.Poke{Functions: true})
		next(t, pokes)
		next(t, pokes)
	}
	must("heartbeat", buses[catalog.Runner].Heartbeat(ctx, &pb.RunnerStatus{Runner: "r"}))
	for range 3 {
		next(t, beats)
	}
	must("heartbeat of a ticket service", buses[catalog.Ticket].TicketHeartbeat(ctx, new(pb.TicketStatus)))
	next(t, heard)
	buses[catalog.Party].NotifyParty(ctx, "demo", &pb.PartyChanged{Party: "p"})
	next(t, changed)
	for _, name := range []string{catalog.Director, catalog.Allocator, catalog.Backfill, catalog.Party} {
		buses[name].NotifyAssigned(ctx, "demo", []string{"t"})
		next(t, assigned)
	}
	for _, name := range []string{catalog.Director, catalog.Backfill, catalog.Config} {
		parts := make(chan *pb.RunPart, 4)
		run, err := buses[name].StartRun(ctx, &pb.RunRequest{Run: "run-of-" + name, Project: "demo", Function: "duel"},
			func(p bus.Part) { parts <- p.RunPart })
		must(name+" runs", err)
		for part := next(t, parts); !part.GetLast(); part = next(t, parts) {
		}
		run.Stop()
	}

	sent, err := buses[catalog.Director].EnqueueMatches(ctx, "demo", nil, []string{"m"})
	if must("send", err); len(sent) != 1 {
		t.Fatal("the match was not sent")
	}
	worked, done := make(chan string, 1), make(chan error, 1)
	working, stop := context.WithCancel(ctx)
	go func() {
		done <- buses[catalog.Allocator].ConsumeMatches(working, 4, func(_ context.Context, w *pb.MatchWork, _ int) error {
			worked <- w.GetMatch()
			return nil
		})
	}()
	next(t, worked)
	stop()
	must("work", next(t, done))

	must("put module", buses[catalog.Registry].PutModule(ctx, "module", make([]byte, 300<<10)))
	for _, name := range []string{catalog.Runner, catalog.Registry} {
		module, err := buses[name].Module(ctx, "module")
		if must(name+" reads", err); len(module) != 300<<10 {
			t.Errorf("%s read %d bytes", name, len(module))
		}
		if _, err := buses[name].Module(ctx, "none"); !errors.Is(err, bus.ErrNoModule) {
			t.Errorf("%s: a module that is not there: %v", name, err)
		}
	}
	names, err := buses[catalog.Registry].Modules(ctx)
	if must("list", err); len(names) != 1 {
		t.Errorf("modules %v", names)
	}
	must("drop", buses[catalog.Registry].DeleteModule(ctx, "module"))

	must("log", buses[catalog.Runner].PublishLog(ctx, "demo", "duel.v2", &pb.LogLines{Instance: "i"}))
	must("ping", buses[catalog.Runner].Ping(ctx))
	waittest.Until(t, "the log is read", func() bool {
		lines := 0
		_, err := buses[catalog.Registry].ReadLog(ctx, "demo", "duel.v2", bus.LogStart{},
			func(*pb.LogLines) bool { lines++; return true })
		must("read log", err)
		return lines == 1
	})
	for range 1000 { // about the room that there is
		text := strings.Repeat("x", bus.MaxLogText)
		must("log", buses[catalog.Runner].PublishLog(ctx, "demo", "loud", &pb.LogLines{Instance: "i", Text: text}))
	}
	waittest.Until(t, "the room for logs is shared", func() bool {
		removed, err := buses[catalog.Registry].ShareLogs(ctx)
		must("share logs", err)
		return removed > 0
	})

	var end bus.EventTail
	for removed := uint64(0); removed == 0; { // until the room for events is shared
		one := &pb.Event{Reason: strings.Repeat("x", bus.MaxEventBytes)}
		end, removed, err = buses[catalog.Director].PublishEvents(ctx,
			&pb.Events{Project: "demo", Events: []*pb.Event{one}}, end)
		must("publish events", err)
	}
	if _, last, err := buses[catalog.Director].LastEvents(ctx, "demo"); err != nil || last.Sequence != end.Sequence {
		t.Errorf("last events: %v, %v", last, err)
	}
	_, err = buses[catalog.Ticket].ReadEvents(ctx, "demo", bus.EventStart{After: end.Sequence, Again: true}, true,
		func(m bus.EventMessage) (more bool) { return m.Sequence != end.Sequence })
	must("read events", err)
	follower := member(t, url, account.Events, logger)
	if some, _, err := follower.LastEvents(ctx, "demo"); err != nil || some == nil {
		t.Errorf("events: %v, %v", some, err)
	}
	followed := errors.New("heard it")
	if err := bustest.FollowEvents(ctx, follower, "demo",
		func(*pb.Events) error { return followed }); !errors.Is(err, followed) {
		t.Errorf("follow: %v", err)
	}
	for _, b := range buses {
		must("ping", b.Ping(ctx))
	}
	if violations := refusals.String() + log.String(); strings.Contains(strings.ToLower(violations), "violation") ||
		strings.Contains(violations, "permit") {
		t.Errorf("an account was refused something:\n%s", violations)
	}
}

// TestNoServiceMayDoMore: what a service has nothing to do with the server refuses it.
func TestNoServiceMayDoMore(t *testing.T) {
	t.Parallel()
	url, _ := permitting(t)
	// All streams are there: it is not for their being missing that anything is refused.
	all := member(t, url, account.All, slog.New(slog.DiscardHandler))
	embeddedtest.Prepare(t, all)
	// What is refused to all accounts, and to some.
	publish := map[string][]string{
		"$JS.API.STREAM.DELETE.MM_MATCHES": catalog.Names(), "$JS.API.STREAM.PURGE.MM_MATCHES": catalog.Names(),
		"$JS.API.STREAM.DELETE.MM_EVENTS": catalog.Names(), "$JS.API.STREAM.CREATE.SPY": catalog.Names(),
		"$JS.API.STREAM.MSG.DELETE.MM_EVENTS": catalog.Names(), "$JS.API.STREAM.LIST": catalog.Names(),
		"$SYS.REQ.SERVER.PING":  catalog.Names(),
		"mm.inbox.director.x":   catalog.Names(), // where the director's answers come in
		"elsewhere":             catalog.Names(),
		"mm.match.demo":         except(catalog.Director, catalog.Allocator),
		"mm.event.demo":         except(catalog.Director),
		"mm.run.demo.duel":      except(catalog.Director, catalog.Backfill, catalog.Ticket, catalog.Config),
		"mm.parts.director.b.r": except(catalog.Runner),
		"mm.runner":             except(catalog.Runner),
		"mm.log.demo.duel":      except(catalog.Runner),
		"mm.assigned.demo": except(catalog.Director, catalog.Allocator,
			catalog.Backfill, catalog.Ticket, catalog.Party),
		"mm.party.demo":                                      except(catalog.Party),
		"mm.poke.demo":                                       {catalog.Runner},
		"mm.function.demo":                                   except(catalog.Registry, catalog.Config),
		"mm.cloudevent.demo":                                 except(catalog.Config),
		"$O.MM_MODULES.C.x":                                  except(catalog.Registry),
		"$O.MM_MODULES.M.x":                                  except(catalog.Registry),
		"$JS.API.STREAM.PURGE.OBJ_MM_MODULES":                except(catalog.Registry),
		"$JS.API.STREAM.UPDATE.OBJ_MM_MODULES":               except(catalog.Registry),
		"$JS.API.STREAM.UPDATE.MM_MATCHES":                   except(catalog.Director),
		"$JS.API.CONSUMER.CREATE.MM_MATCHES.allocators":      except(catalog.Allocator),
		"$JS.API.CONSUMER.MSG.NEXT.MM_MATCHES.allocators":    except(catalog.Allocator),
		"$JS.API.CONSUMER.CREATE.MM_MATCHES.other":           catalog.Names(),
		"$JS.ACK.MM_MATCHES.allocators.1.1.1.1.1":            except(catalog.Allocator),
		"$JS.API.CONSUMER.CREATE.MM_LOGS.x.mm.log.demo.duel": except(catalog.Registry),
		"$JS.API.CONSUMER.CREATE.MM_EVENTS.x.mm.event.demo":  except(catalog.Ticket, catalog.Config),
		"$JS.API.CONSUMER.CREATE.MM_EVENTS.x":                catalog.Names(),
		"$JS.API.STREAM.MSG.GET.MM_EVENTS": except(catalog.Ticket, catalog.Director,
			catalog.Config),
		"$JS.API.DIRECT.GET.OBJ_MM_MODULES.$O.MM_MODULES.M.x":        except(catalog.Registry, catalog.Runner),
		"$JS.API.CONSUMER.CREATE.OBJ_MM_MODULES.x.$O.MM_MODULES.C.y": except(catalog.Registry, catalog.Runner),
	}
	subscribe := map[string][]string{
		">": catalog.Names(), "mm.>": catalog.Names(), "_INBOX.>": catalog.Names(),
		"mm.inbox.>": catalog.Names(), "$SYS.>": catalog.Names(),
		"mm.match.*":            catalog.Names(), // they are taken from the queue
		"mm.log.*.*":            catalog.Names(),
		"mm.event.*":            except(catalog.Ticket),
		"$O.MM_MODULES.>":       catalog.Names(),
		"mm.run.*.*":            catalog.Names(), // without the group: the runs of all runners
		"mm.parts.>":            catalog.Names(),
		"mm.parts.director.*.*": except(catalog.Director),
		"mm.parts.backfill.*.*": except(catalog.Backfill),
		"mm.parts.ticket.*.*":   except(catalog.Ticket),
		"mm.parts.config.*.*":   except(catalog.Config),
		"mm.poke.*":             except(catalog.Director),
		"mm.function.*":         except(catalog.Runner),
		"mm.assigned.*":         except(catalog.Ticket),
		"mm.party.*":            except(catalog.Party),
		"mm.runner":             except(catalog.Director, catalog.Runner, catalog.Registry),
	}
	for _, name := range catalog.Names() {
		subscribe["mm.inbox."+name+".>"] = except(name)
	}
	for _, name := range catalog.Names() {
		t.Run(name, func(t *testing.T) {
			refused := make(chan error, 256)
			conn, err := nats.Connect(url, nats.UserInfo(account.User(name), passwordOf(name)),
				nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			// The server answers in order: each attempt is told apart by what it says of it.
			attempt := func(kind, subject string, do func() error) {
				t.Helper()
				if err := do(); err != nil {
					t.Fatalf("%s %s: %v", kind, subject, err)
				}
				if err := conn.Flush(); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-refused:
					if !errors.Is(err, nats.ErrPermissionViolation) ||
						!strings.Contains(err.Error(), fmt.Sprintf("%s to %q", kind, strings.ReplaceAll(subject, ">", ">"))) {
						t.Errorf("%s to %s: %v", kind, subject, err)
					}
				case <-time.After(patience):
					t.Errorf("%s may %s to %s", name, strings.ToLower(kind), subject)
				}
			}
			for subject, to := range publish {
				if has(to, name) {
					attempt("Publish", subject, func() error { return conn.Publish(subject, nil) })
				}
			}
			for subject, to := range subscribe {
				if has(to, name) {
					attempt("Subscription", subject, func() error { _, err := conn.SubscribeSync(subject); return err })
				}
			}
		})
	}
	if _, err := nats.Connect(url); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a user: %v", err)
	}
}

func has(all []string, one string) bool {
	for _, name := range all {
		if name == one {
			return true
		}
	}
	return false
}

// except is the services but for some.
func except(some ...string) []string {
	var others []string
	for _, name := range catalog.Names() {
		if !has(some, name) {
			others = append(others, name)
		}
	}
	return others
}
