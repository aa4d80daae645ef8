package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/runner"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

// box runs match functions in the process. All modules have the function of the chaos test, see moduleOf.
type box struct {
	mu sync.Mutex
	// loaded is what the modules hold that were loaded, by hash.
	loaded map[string]string
}

func newBox() *box { return &box{loaded: map[string]string{}} }

const (
	header = "\x00asm"
	keeps  = "keeps-"
)

// moduleOf makes the module of an edition.
func moduleOf(edition int, keepsTickets bool) []byte {
	if keepsTickets {
		return fmt.Append(nil, header, keeps, edition)
	}
	return fmt.Append(nil, header, edition)
}

// Open implements runner.Engine, as do the other methods.
func (b *box) Open(_ context.Context, _, hash string) (*sandbox.Module, sandbox.Cost, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, is := b.loaded[hash]
	if !is {
		return nil, sandbox.Cost{}, sandbox.ErrNotCached
	}
	return &sandbox.Module{Hash: hash, Size: len(header) + len(text), Manifest: sandbox.Manifest{
		Attributes: []string{"number", "free"}, Properties: []string{}, Changes: strings.HasPrefix(text, keeps),
	}}, sandbox.Cost{}, nil
}

// Load takes a module.
func (b *box) Load(ctx context.Context, owner string, wasm []byte) (*sandbox.Module, sandbox.Cost, error) {
	sum := sha256.Sum256(wasm)
	hash := hex.EncodeToString(sum[:])
	b.mu.Lock()
	b.loaded[hash] = strings.TrimPrefix(string(wasm), header)
	b.mu.Unlock()
	return b.Open(ctx, owner, hash)
}

// Release does nothing.
func (*box) Release(*sandbox.Module) {}

// Start starts an instance.
func (b *box) Start(_ context.Context, m *sandbox.Module, name string, _ func(string)) (runner.Instance, error) {
	b.mu.Lock()
	text := b.loaded[m.Hash]
	b.mu.Unlock()
	number, keeper := strings.CutPrefix(text, keeps)
	e, err := strconv.Atoi(number)
	f := matchfn.New(edition(e).match)
	if keeper {
		f = matchfn.NewMatcher(func(*matchfn.Settings) (matchfn.Matcher, error) { return &pairs{edition: edition(e)}, nil })
	}
	return &instance{name: name, function: f, done: make(chan struct{})}, err
}

// instance is an instance of the function.
type instance struct {
	name     string
	function *matchfn.Function
	done     chan struct{}
}

// Name and the methods below implement sandbox.Instance.
func (i *instance) Name() string { return i.name }

// Memory is how much the function may use.
func (i *instance) Memory() int { return 1 << 28 }

// Buffer is none: requests are copied.
func (i *instance) Buffer() []byte { return nil }

// Reserves is false for the same reason.
func (i *instance) Reserves(int) bool { return false }

// Reserve is not called.
func (i *instance) Reserve(context.Context, int, time.Duration) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// ReleaseBuffer does nothing.
func (i *instance) ReleaseBuffer() {}

// Pid returns a number that no process has.
func (i *instance) Pid() int { return 0 }

// Done is never closed: the instance ends with Close.
func (i *instance) Done() <-chan struct{} { return i.done }

// Close does nothing.
func (i *instance) Close() {}

// Run runs the function. It ends as a sandbox does when the function misbehaves.
func (i *instance) Run(ctx context.Context, request []byte, budget time.Duration) (
	answer []byte, _ sandbox.Stats, err error,
) {
	defer func() {
		var failure *sandbox.Error
		switch r := recover(); r {
		case nil:
			return
		case "spin":
			select {
			case <-ctx.Done():
			case <-time.After(budget):
			}
			failure = &sandbox.Error{Cause: sandbox.Deadline, Detail: "the budget is over"}
		case "eat":
			failure = &sandbox.Error{Cause: sandbox.Memory, Detail: "out of memory"}
		default:
			failure = &sandbox.Error{Cause: sandbox.Trap, Detail: fmt.Sprint(r)}
		}
		answer, err = nil, failure
	}()
	return slices.Clone(i.function.Answer(request)), sandbox.Stats{}, nil
}

// edition is the edition of the function: what testdata/chaos.c of the chaos test does, in Go.
type edition int

// failing is an edition of which each run fails.
const failing = 0

func (e edition) match(r *matchfn.Run) error {
	if e == failing {
		return errors.New("it is spoiled")
	}
	var s history.Settings
	if err := json.Unmarshal(r.Config(), &s); err != nil {
		return err
	}
	switch {
	case s.How == "twice":
		for i := range uint32(r.Tickets()) {
			r.Propose(1, i, i)
		}
	case s.How == "shout":
		return errors.New("it was told to fail")
	case s.How != "":
		panic(s.How)
	case s.Fills:
		return e.fill(r, s, r.Attribute("number"))
	default:
		return (&pairs{edition: e}).Match(r)
	}
	return nil
}

// seated is a ticket of a run, and the number of its player.
type seated struct {
	ticket uint32
	number float64
}

// pairs pairs tickets, and keeps the one that is left over.
type pairs struct {
	edition
	alone []seated
}

// Match implements matchfn.Matcher.
func (k *pairs) Match(r *matchfn.Run) error {
	var s history.Settings
	if err := json.Unmarshal(r.Config(), &s); err != nil {
		return err
	}
	k.alone = slices.DeleteFunc(k.alone, func(one seated) bool { return slices.Contains(r.Gone(), one.ticket) })
	for i, number := range r.Attribute("number") {
		if k.alone = append(k.alone, seated{r.First() + uint32(i), number}); len(k.alone) < 2 {
			continue
		}
		p, err := k.propose(r, history.Properties{Settings: s}, k.alone...)
		if err != nil {
			return err
		}
		switch {
		case !s.Hosted: // a place that no other match has
			p.Connection(fmt.Sprintf("free-%d-%v-%v", r.Now().UnixMilli(), k.alone[0].number, k.alone[1].number))
		case s.Generation%3 == 0: // its game takes more players
			p.CreateBackfill().Attribute(string(lane.Games), 1).Attribute("free", 2)
		}
		k.alone = k.alone[:0]
	}
	return nil
}

// propose proposes tickets, and writes into the match what made it.
func (e edition) propose(r *matchfn.Run, made history.Properties, all ...seated) (matchfn.Proposal, error) {
	made.Edition, made.Now = int(e), r.Now().UnixMilli()
	tickets := make([]uint32, len(all))
	for i, one := range all {
		tickets[i], made.Players = one.ticket, append(made.Players, int64(one.number))
	}
	text, err := json.Marshal(made)
	p := r.Propose(0)
	if !made.Settings.Hosted {
		p.Team("", tickets...)
	} else {
		for i, ticket := range tickets { // one of which wins
			p.Team(strconv.Itoa(i), ticket)
		}
	}
	p.MatchProperties(text)
	for _, one := range all {
		p.TicketProperties(one.ticket, fmt.Appendf(nil, `{"you":%d}`, int64(one.number)))
	}
	return p, err
}

// fill sends tickets to running games, as many as each has room for.
func (e edition) fill(r *matchfn.Run, s history.Settings, number []float64) error {
	room, next := r.BackfillAttribute("free"), uint32(0)
	// It does not look at the players in a game: each second another game is the first, so that a game that some may not
	// join, or that no player plays, keeps no player waiting.
	games, first := uint32(r.Backfills()), uint32(r.Now().Unix())
	for n := range games {
		game := (first + n) % games
		var tickets []seated
		for len(tickets) < 4 && float64(len(tickets)+1) <= room[game] && int(next) < r.Tickets() {
			tickets = append(tickets, seated{next, number[next]})
			next++
		}
		if len(tickets) == 0 {
			continue
		}
		made := history.Properties{Settings: s, Version: r.BackfillVersion()[game]}
		made.Backfill, _ = r.BackfillConnection(game)
		p, err := e.propose(r, made, tickets...)
		if err != nil {
			return err
		}
		p.UpdateBackfill(game).Attribute("free", room[game]-float64(len(tickets)))
	}
	return nil
}
