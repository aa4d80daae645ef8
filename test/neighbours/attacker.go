package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/test/workload"
)

// attacker has what a tenant has: tokens for its projects, and the API.
type attacker struct {
	*trial

	// nobody is a client that is always refused.
	nobody *client.Client

	mu      sync.Mutex
	clients map[[2]string]*client.Client
	// configs and functions are to be deleted at the end: project and name.
	configs, functions map[[2]string]bool
	notes              map[string]*note
}

func newAttacker(t *trial) (*attacker, error) {
	nobody, err := client.New(client.Options{URL: "http://" + t.Address(catalog.Ticket), Project: attackerProject,
		Token: client.StaticToken("none")})
	return &attacker{trial: t, nobody: nobody, clients: map[[2]string]*client.Client{}, configs: map[[2]string]bool{},
		functions: map[[2]string]bool{}, notes: map[string]*note{}}, err
}

// hostileName is the name of the attacker's functions.
const hostileName = "hostile"

// note is something for the report, and how often it was noted.
type note struct {
	text  string
	times int
}

// note records something for the report. Texts that differ in numbers or correlation ids alone are one: the first.
func (a *attacker) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := correlation.ReplaceAllString(fmt.Sprintf(format, args...), "")
	key := number.ReplaceAllString(text, "0")
	if a.notes[key] == nil {
		a.notes[key] = &note{text: text}
	}
	a.notes[key].times++
}

var (
	correlation = regexp.MustCompile(` ?\(correlation id [^)]*\)|,?"correlationId":"[^"]*"`)
	number      = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
)

// asked records what an action was answered. Errors are noted once for each status and text.
func (a *attacker) asked(what string, err error) bool {
	if err == nil {
		return true
	}
	if errors.Is(err, context.Canceled) {
		return false
	}
	text := err.Error()
	if e, ok := errors.AsType[*client.Error](err); ok {
		text = e.Error()
	}
	a.note("%s: %.400s", what, text)
	return false
}

// said lists the notes, the most frequent first.
func (a *attacker) said() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	notes := slices.SortedFunc(maps.Values(a.notes), func(x, y *note) int { return y.times - x.times })
	for i, n := range notes {
		if i == mostNotes {
			all = append(all, fmt.Sprintf("… %d other answers", len(notes)-i))
			break
		}
		text := n.text
		if n.times > 1 {
			text += fmt.Sprintf(" (%d times)", n.times)
		}
		all = append(all, text)
	}
	return all
}

const mostNotes = 6

// api is a client of a service for a project.
func (a *attacker) api(project, service string) *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := [2]string{project, service}
	if a.clients[key] == nil {
		c, err := a.client(project, service)
		if err != nil {
			c = a.nobody
			progress("  no client for %s: %v", project, err)
		}
		a.clients[key] = c
	}
	return a.clients[key]
}

// start uploads a function and waits until it runs.
func (a *attacker) start(ctx context.Context, project, name string, module []byte) bool {
	a.own(a.functions, project, name)
	return a.asked("function", workload.Start(ctx, a.api(project, catalog.Registry), name, bytes.NewReader(module)))
}

// upload uploads a function and does not wait for it.
func (a *attacker) upload(ctx context.Context, project, name string, module []byte) bool {
	a.own(a.functions, project, name)
	return a.asked("upload", a.api(project, catalog.Registry).PutFunction(ctx, name, "", bytes.NewReader(module)))
}

// put puts a config of the hostile function over the tickets with the attacker's attribute.
func (a *attacker) put(ctx context.Context, name, how string) {
	a.putConfig(ctx, attackerProject, name, configOf(hostileName, attackerAttribute, map[string]any{"how": how}))
}

func (a *attacker) putConfig(ctx context.Context, project, name string, c client.Config) bool {
	text, _ := json.Marshal(c) // all of it can be JSON
	return a.putText(ctx, project, name, text)
}

// putText puts a config that is JSON already.
func (a *attacker) putText(ctx context.Context, project, name string, config json.RawMessage) bool {
	a.own(a.configs, project, name)
	_, err := a.api(project, catalog.Config).SaveConfig(ctx, name, config, "")
	return a.asked("config", err)
}

func (a *attacker) own(what map[[2]string]bool, project, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	what[[2]string{project, name}] = true
}

// delete deletes all functions and configs, and returns when that was answered.
func (a *attacker) delete(ctx context.Context) time.Time {
	remove := func(what map[[2]string]bool, of func(project, name string) error) {
		var all sync.WaitGroup
		lanes := make(chan struct{}, 16)
		for _, key := range slices.Collect(maps.Keys(what)) {
			all.Go(func() {
				lanes <- struct{}{}
				defer func() { <-lanes }()
				for ctx.Err() == nil {
					err := of(key[0], key[1])
					if status := client.Status(err); err == nil || status == http.StatusNotFound {
						return
					} else if status != http.StatusTooManyRequests {
						a.asked("delete", err)
						return
					}
					pause(ctx, 200*time.Millisecond)
				}
			})
		}
		all.Wait()
	}
	remove(a.functions, func(project, name string) error {
		return a.api(project, catalog.Registry).DeleteFunction(ctx, name)
	})
	remove(a.configs, func(project, name string) error {
		return a.api(project, catalog.Config).DeleteConfig(ctx, name)
	})
	return time.Now()
}

// many does something n times, so many at the same time, and returns how often it was done.
func many(ctx context.Context, n, lanes int, do func(i int) bool) int {
	var all sync.WaitGroup
	var next, done atomic.Int64
	for range lanes {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if do(i) {
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return int(done.Load())
}

// forever does something in so many lanes until ctx ends.
func forever(ctx context.Context, lanes int, do func(i int)) {
	many(ctx, 1<<62, lanes, func(i int) bool { do(i); return true })
}

// flood does something so many times a second until ctx ends. What takes long is done at the same time as others.
func (a *attacker) flood(ctx context.Context, rate int, do func(i int)) {
	again := time.NewTicker(time.Second / time.Duration(rate))
	defer again.Stop()
	lanes := make(chan struct{}, 64)
	var all sync.WaitGroup
	defer all.Wait()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		select {
		case lanes <- struct{}{}:
		default:
			a.note("the service was slower than the requests came")
			continue
		}
		all.Go(func() {
			defer func() { <-lanes }()
			do(i)
		})
	}
}

// tickets creates n tickets, each of another player, as fast as they are taken.
func (a *attacker) tickets(ctx context.Context, project string, n int, of func(i int) client.TicketRequest) error {
	api := a.api(project, catalog.Ticket)
	got := many(ctx, n, 16, func(i int) bool {
		t := of(i)
		t.Player = fmt.Sprintf("player-%d", i)
		_, err := api.CreateTicket(ctx, t)
		return a.asked("ticket", err)
	})
	if got < n {
		a.note("%d of %d tickets were created", got, n)
	}
	return context.Cause(ctx)
}

// comes creates n tickets at the rate of floods.
func (a *attacker) comes(ctx context.Context, n int, of func(i int) client.TicketRequest) {
	limited, enough := context.WithCancel(ctx)
	defer enough()
	a.flood(limited, a.options.Flood, func(i int) {
		if i >= n {
			enough()
			return
		}
		t := of(i)
		t.Player = fmt.Sprintf("player-%d", i)
		_, err := a.api(attackerProject, catalog.Ticket).CreateTicket(ctx, t)
		a.asked("ticket", err)
	})
}

// prey are tickets in the attacker's pool.
func prey(int) client.TicketRequest {
	return client.TicketRequest{Attributes: map[string]float64{attackerAttribute: 1}}
}

// waiting prepares n tickets in the attacker's pool.
func waiting(n int) func(context.Context, *attacker) error {
	return func(ctx context.Context, a *attacker) error { return a.tickets(ctx, attackerProject, n, prey) }
}

// request sends a request of the attacker's own making and reads the answer to its end.
func (a *attacker) request(ctx context.Context, what, method, project, service, path string, body io.Reader,
	header http.Header) {
	a.asked(what, a.send(ctx, method, project, service, path, body, header))
}

func (a *attacker) send(ctx context.Context, method, project, service, path string, body io.Reader,
	header http.Header) error {
	token, err := workload.Token(a.Tokens, service, project)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+a.Address(service)+"/"+project+path, body)
	if err != nil {
		return err
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := a.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%d: %.200s", answer.StatusCode, text)
	}
	return nil
}

// base is where the paths of the first generation begin.
const base = "/matchmaking/api/v1"
