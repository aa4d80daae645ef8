package webhook

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

const (
	// A webhook has at most so many requests at a time, and reads so many events, and bytes of them, ahead of the first
	// one that is not delivered.
	maxRequests  = 8
	windowEvents = 256
	windowBytes  = 1 << 20
	// eventBytes is about what an event takes besides its fields.
	eventBytes = 512
	// whole is the number of events of a place behind all of its message.
	whole = 1<<31 - 1
	// downAfter is after how many failures, without an event that was taken, a webhook gets one request at a time.
	downAfter = 3
	// maxLetters and letterBytes bound the dead letters of a webhook: the oldest go.
	maxLetters  = 256
	letterBytes = 512 << 10
	// clockSlack is how far the clock of NATS may be from the one that said when a webhook was set.
	clockSlack = 2 * time.Second
)

// place is a place in the stream of events: behind so many events of a message.
type place struct {
	message uint64
	events  int // or whole: all
}

// deliverer delivers events to one webhook.
type deliverer struct {
	*Service
	project string
	hook    *pb.Webhook
	since   time.Time // from which on events are read, while there is no place
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	ended   bool
	window  []*item // in the order of the events
	bytes   int64
	read    place // behind the last event that was read
	lanes   map[string][]*item
	ready   []string // lanes whose first event may be sent

	requests, failures int
	taken              uint64
	paused             bool
	status             response.WebhookStatus
	saved              state.WebhookNote
	letters            []state.DeadLetter

	// told is the state that the last event told of, and dead how many events were given up since. untold is an event
	// that could not be stored.
	told   string
	dead   int
	last   time.Time
	untold *pb.Event
}

// item is an event that is not delivered yet.
type item struct {
	event *pb.Event
	id    string
	lane  string
	size  int64
	// A reader goes on from before to have it, and from behind to have what follows. What a gap says is known only before
	// it, from where reading began.
	before, behind place
	done           bool
	tries          int
	taken          uint64 // how many events had been taken when it failed first
}

// States of a webhook.
const (
	delivering = "delivering"
	failing    = "failing"
)

// lastRequest is how long a request under way may take when the delivery ends.
const lastRequest = time.Second

// begin delivers events until stop.
func (s *Service) begin(ctx context.Context, project string, hook *pb.Webhook, kept state.WebhookState) *deliverer {
	ctx, cancel := context.WithCancel(ctx)
	d := &deliverer{Service: s, project: project, hook: hook, cancel: cancel, lanes: map[string][]*item{},
		status: response.WebhookStatus{State: delivering}, told: delivering}
	d.changed = sync.NewCond(&d.mu)
	_ = json.Unmarshal([]byte(kept.Status), &d.status) // without it, its past is not known
	d.told = d.status.State
	if text, is := strings.CutPrefix(kept.Place, "@"); is {
		ms, _ := strconv.ParseInt(text, 10, 64)
		d.since = time.UnixMilli(ms).Add(-clockSlack)
	} else {
		_, _ = fmt.Sscanf(kept.Place, "%d.%d", &d.read.message, &d.read.events) // else all that is kept
	}
	d.running.Go(func() { d.follow(ctx) })
	for range maxRequests {
		d.running.Go(func() { d.work(ctx) })
	}
	return d
}

// stop ends the delivery. Requests under way are cut off after a moment, and their events are sent again.
func (d *deliverer) stop() {
	d.cancel()
	d.mu.Lock()
	d.ended = true
	d.changed.Broadcast()
	d.mu.Unlock()
	d.running.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.memory.Give(d.owner(), d.bytes)
	d.bytes = 0
}

func (d *deliverer) owner() string { return d.project + "/" + d.hook.GetName() }

// follow reads events into the window.
func (d *deliverer) follow(ctx context.Context) {
	for ctx.Err() == nil {
		from := bus.EventStart{Since: d.since}
		if d.read.message > 0 {
			from = bus.EventStart{After: d.read.message, Again: d.read.events < whole}
		}
		_, err := d.Bus.ReadEvents(ctx, d.project, from, true, func(m bus.EventMessage) bool {
			skip := 0
			if m.Sequence == d.read.message && !m.Lost {
				skip = min(d.read.events, len(m.GetEvents()))
			}
			if m.Lost && len(m.GetEvents()) > 0 {
				gap := &pb.Event{Kind: pb.Event_KIND_GAP, Reason: "trimmed", Time: m.GetEvents()[0].GetTime(),
					Position: m.GetEvents()[0].GetPosition()}
				before, behind := d.read, place{m.Sequence, 0}
				if before.message > m.Sequence { // the stream was begun anew, and will have a message of that number
					before = behind
				}
				if !d.add(gap, before, behind, gapNumber) {
					return false
				}
			}
			for i, e := range m.GetEvents()[skip:] {
				i += skip
				if !d.add(e, place{m.Sequence, i}, place{m.Sequence, i + 1}, i) {
					return false
				}
			}
			d.mu.Lock()
			d.read = place{m.Sequence, whole} // the message need not be kept any more
			d.mu.Unlock()
			return true
		})
		if err != nil && ctx.Err() == nil {
			d.Log.DebugContext(ctx, "webhook: events are read again", "project", d.project, "error", err)
		}
		_ = wait.For(ctx, d.Timing.Note)
	}
}

// wants reports whether the webhook is sent an event.
func (d *deliverer) wants(e *pb.Event) bool {
	kinds := d.hook.GetEvents()
	return e.GetKind() == pb.Event_KIND_GAP || slices.Contains(kinds, definition.AllEvents) ||
		slices.Contains(kinds, response.EventKind(e.GetKind()))
}

// add adds an event that was read to the window when there is room, unless it is not wanted; false at the end. Events
// of a match share a lane.
func (d *deliverer) add(e *pb.Event, before, behind place, n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.wants(e) {
		d.read = behind
		return true
	}
	it := &item{event: e, id: eventID(e, n), lane: e.GetMatch(), before: before, behind: behind,
		size: int64(proto.Size(e) + eventBytes)}
	if it.lane == "" && len(e.GetTickets()) > 0 {
		it.lane = e.GetTickets()[0]
	}
	for len(d.window) > 0 && !d.ended && (len(d.window) >= windowEvents || d.bytes+it.size > windowBytes ||
		!d.memory.Take(d.owner(), it.size)) {
		d.changed.Wait()
	}
	if d.ended {
		return false
	}
	if len(d.window) == 0 && !d.memory.Take(d.owner(), it.size) {
		it.size = 0 // one event is sent in any case
	}
	d.bytes += it.size
	d.window, d.read = append(d.window, it), behind
	if d.lanes[it.lane] = append(d.lanes[it.lane], it); len(d.lanes[it.lane]) == 1 {
		d.ready = append(d.ready, it.lane)
		d.changed.Broadcast()
	}
	return true
}

// work sends events, one at a time, until the end.
func (d *deliverer) work(ctx context.Context) {
	for it := d.next(); it != nil; it = d.next() {
		d.awaitLease(ctx, d.project)
		began := time.Now()
		sending, cut := context.WithCancel(context.WithoutCancel(ctx))
		ended := context.AfterFunc(ctx, func() { time.AfterFunc(lastRequest, cut) })
		o := d.send(sending, it)
		ended()
		cut()
		if ctx.Err() != nil && o.result != taken {
			return
		}
		d.sent.Add(ctx, 1, d.results.Of(o.result))
		d.took.Record(ctx, time.Since(began).Seconds(), d.results.Of(o.result))
		d.settle(ctx, it, o)
	}
}

// next waits for an event that may be sent; nil at the end.
func (d *deliverer) next() *item {
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.ended {
		if len(d.ready) > 0 && !d.paused && (d.failures < downAfter || d.requests == 0) {
			it := d.lanes[d.ready[0]][0]
			d.ready = d.ready[1:]
			d.requests++
			return it
		}
		d.changed.Wait()
	}
	return nil
}

// send sends an event once.
func (d *deliverer) send(ctx context.Context, it *item) outcome {
	body, err := d.cloudEvent(d.project, it)
	if err != nil {
		return outcome{result: forbidden, reason: "the event cannot be encoded"}
	}
	return d.post(ctx, d.project, d.hook, it.id, body)
}

// post signs and sends a body to a webhook, or publishes it.
func (s *Service) post(ctx context.Context, project string, hook *pb.Webhook, id string, body []byte) outcome {
	if hook.GetUrl() == definition.ByNATS {
		ctx, cancel := context.WithTimeout(ctx, s.Settings.Time)
		defer cancel()
		if s.Bus.PublishCloudEvent(ctx, project, id, body) != nil {
			return outcome{result: unreachable, reason: "no stream of NATS took it: make one with its subject"}
		}
		return outcome{result: taken}
	}
	secrets, err := s.Keys.OpenWebhook(project, hook)
	if err != nil {
		s.Log.WarnContext(ctx, "webhook: the secret cannot be decrypted", "project", project, "webhook", hook.GetName(),
			"error", err)
		return outcome{result: forbidden, reason: "the secret cannot be decrypted: set it anew"}
	}
	return s.sender.send(ctx, hook.GetUrl(), body, signed(secrets, id, body, s.Store.Now()))
}

// settle notes what became of an event: it was taken, is sent again later, or is a dead letter.
func (d *deliverer) settle(ctx context.Context, it *item, o outcome) {
	now := d.Store.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	defer d.changed.Broadcast()
	d.requests--
	d.status.Status, d.status.Reason = o.status, o.reason
	if o.result == taken {
		d.taken++
		d.failures, d.status.Delivered = 0, response.Time(now)
		d.setState(delivering, now)
		d.finish(it)
		return
	}
	d.failures++
	if it.tries++; it.tries == 1 {
		it.taken = d.taken
	}
	pause := o.retryAfter
	if d.failures >= downAfter {
		d.setState(failing, now)
		pause = max(pause, d.backoff(d.failures-downAfter))
	}
	d.pause(pause)
	if age := now.Sub(time.UnixMilli(it.event.GetTime())); age > d.Settings.Age ||
		it.tries >= d.Settings.Tries && d.taken > it.taken {
		d.bury(ctx, it, o, now)
		return
	}
	time.AfterFunc(d.backoff(it.tries-1), func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ready = append(d.ready, it.lane)
		d.changed.Broadcast()
	})
}

// backoff is the pause after so many failures before: twice as long each time, and a random half less.
func (d *deliverer) backoff(failures int) time.Duration {
	pause := min(d.Timing.Pause<<min(failures, 20), d.Timing.MaxPause)
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // nothing secret depends on it
}

// pause sends nothing for a while. The caller has the lock.
func (d *deliverer) pause(pause time.Duration) {
	if pause <= 0 || d.paused {
		return
	}
	d.paused = true
	time.AfterFunc(pause, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.paused = false
		d.changed.Broadcast()
	})
}

// setState notes a state, and since when. The caller has the lock.
func (d *deliverer) setState(to string, now time.Time) {
	if d.status.State != to {
		d.status.State, d.status.Since = to, response.Time(now)
	}
}

// bury makes a dead letter of an event. The caller has the lock.
func (d *deliverer) bury(ctx context.Context, it *item, o outcome, now time.Time) {
	body, err := d.cloudEvent(d.project, it)
	if err == nil {
		var text []byte
		text, err = json.Marshal(&response.DeadLetter{ID: it.id, Time: response.Time(now), Tries: it.tries, Status: o.status,
			Reason: o.reason, Event: body})
		d.letters = append(d.letters, state.DeadLetter{ID: it.id, Text: string(text)})
	}
	if err != nil {
		d.Log.WarnContext(ctx, "webhook: an event cannot be kept", "project", d.project, "error", err)
	}
	d.dead++
	d.given.Add(ctx, 1)
	d.finish(it)
}

// finish goes on with the next event of the lane, and moves the window. The caller has the lock.
func (d *deliverer) finish(it *item) {
	it.done = true
	if rest := d.lanes[it.lane][1:]; len(rest) > 0 {
		d.lanes[it.lane] = rest
		d.ready = append(d.ready, it.lane)
	} else {
		delete(d.lanes, it.lane)
	}
	for len(d.window) > 0 && d.window[0].done {
		d.bytes -= d.window[0].size
		d.memory.Give(d.owner(), d.window[0].size)
		d.window = d.window[1:]
	}
}

// note returns what is to be noted, and whether anything is. Dead letters are noted together with the place behind
// them.
func (d *deliverer) note() (n state.WebhookNote, changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.read
	if len(d.window) > 0 {
		at = d.window[0].before
	}
	n = state.WebhookNote{Name: d.hook.GetName(), Letters: d.letters}
	if at.message > 0 {
		n.Place = fmt.Sprintf("%d.%d", at.message, at.events)
	}
	if text, err := json.Marshal(&d.status); err == nil {
		n.Status = string(text)
	}
	changed = len(n.Letters) > 0 || n.Place != d.saved.Place || n.Status != d.saved.Status
	d.letters, d.saved = nil, n
	return n, changed
}

// unsaved gives back what could not be noted.
func (d *deliverer) unsaved(n state.WebhookNote) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n.Letters = slices.DeleteFunc(n.Letters, func(l state.DeadLetter) bool { return l.Text == "" })
	d.letters, d.saved = append(n.Letters, d.letters...), state.WebhookNote{}
}

// news returns the event that tells of the webhook's state, if it has changed, or events were given up: the same one
// until it is stored. At the end it does not wait for News: the next deliverer takes the state for told.
func (d *deliverer) news(now time.Time) *pb.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.untold != nil || now.Sub(d.last) < d.Timing.News && !d.ended || d.dead == 0 && d.told == d.status.State {
		return d.untold
	}
	e := &pb.Event{Kind: pb.Event_KIND_WEBHOOK, Reason: failing, Detail: fmt.Sprintf("%s: %s", d.hook.GetName(),
		d.status.Reason)}
	switch {
	case d.dead > 0:
		e.Reason = "dead"
		e.Detail = fmt.Sprintf("%s: %d events were given up: see its dead letters", d.hook.GetName(), d.dead)
		d.dead = 0
	case d.status.State == delivering:
		e.Reason, e.Detail = "recovered", d.hook.GetName()
		d.told = delivering
	default:
		d.told = failing
	}
	d.last, d.untold = now, e
	return e
}
