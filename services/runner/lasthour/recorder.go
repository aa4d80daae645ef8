// Package lasthour keeps which tickets came to a project within the last hour, and plays configs over them in virtual
// time. A runner learns of every ticket anyway, so that costs players nothing. What is kept names no player, and is in
// the memory of the runner alone: one that starts, or begins to host the project, begins anew.
package lasthour

import (
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
)

const (
	// kept is for how long arrivals are kept.
	kept = time.Hour
	// projectBytes and allBytes bound what a runner keeps of a project, and of all. Of a project with more arrivals the
	// latest are kept: fewer tickets in the same time would wait longer.
	projectBytes = 16 << 20
	allBytes     = 64 << 20
	// arrivalBytes is about what an arrival takes beside its attributes and properties, and its id in the map.
	arrivalBytes = 160
)

// Quota is what all recorders of a runner share.
type Quota struct{ recorders atomic.Int64 }

// bytes is how many bytes one recorder may have.
func (q *Quota) bytes() int { return min(projectBytes, allBytes/int(max(q.recorders.Load(), 1))) }

// arrival is a ticket that came.
type arrival struct {
	id      string
	created int64
	// left is when it left without a match; 0 if it did not.
	left int64
	// body is the ticket without ids.
	body []byte
}

// Recorder keeps the arrivals of a project.
type Recorder struct {
	quota *Quota

	mu      sync.Mutex
	since   int64 // from when on all arrivals are known, in Unix milliseconds
	list    []arrival
	dropped int            // from the list
	numbers map[string]int // of the tickets in the list, with those that were dropped
	bytes   int
	ticket  pb.Ticket // is used again
}

// NewRecorder begins a recording.
func NewRecorder(q *Quota, now time.Time) *Recorder {
	q.recorders.Add(1)
	return &Recorder{quota: q, since: now.UnixMilli(), numbers: map[string]int{}}
}

// Restart begins anew: of the tickets that came before, it is not known any more whether they wait.
func (r *Recorder) Restart(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.list, r.dropped, r.numbers, r.bytes = now.UnixMilli(), nil, 0, map[string]int{}, 0
}

// Close forgets all. The recorder is not used after it.
func (r *Recorder) Close() { r.quota.recorders.Add(-1) }

// Came notes a ticket that waits from now on, or again. What cannot be read is left out.
func (r *Recorder) Came(id string, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, known := r.numbers[id]; known {
		r.list[n-r.dropped].left = 0
		return
	}
	t := &r.ticket
	proto.Reset(t)
	if proto.Unmarshal(body, t) != nil || t.GetCreated() < r.since {
		return
	}
	t.Id, t.Owner, t.Trace = "", "", nil
	for _, p := range t.GetPlayers() {
		p.Id = ""
	}
	delete(t.GetProperties(), definition.Recent) // the ids of opponents
	stripped, err := proto.Marshal(t)
	if err != nil {
		return
	}
	r.numbers[id] = r.dropped + len(r.list)
	r.list = append(r.list, arrival{id: id, created: t.GetCreated(), body: stripped})
	r.bytes += arrivalBytes + len(stripped)
	r.bound()
}

// Gone notes that a ticket no longer waits. It left, unless a match took it.
func (r *Recorder) Gone(id string, claimed bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, known := r.numbers[id]; known && !claimed {
		r.list[n-r.dropped].left = now.UnixMilli()
	}
}

// Trim drops what is older than an hour. It is to be called now and then.
func (r *Recorder) Trim(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	oldest := now.Add(-kept).UnixMilli()
	r.since = max(r.since, oldest)
	for len(r.list) > 0 && r.list[0].created < oldest {
		r.drop()
	}
	r.bound()
}

// bound drops the oldest until there is room. The caller has the lock, as for all below.
func (r *Recorder) bound() {
	for most := r.quota.bytes(); r.bytes > most; {
		r.since = max(r.since, r.list[0].created+1)
		r.drop()
	}
}

// drop drops the oldest. append gives the memory back that is before the list.
func (r *Recorder) drop() {
	r.bytes -= arrivalBytes + len(r.list[0].body)
	delete(r.numbers, r.list[0].id)
	r.list[0] = arrival{}
	r.list = r.list[1:]
	r.dropped++
}

// recording is what a recorder has.
type recording struct {
	since    int64
	arrivals []arrival
}

// copy returns what the recorder has now.
func (r *Recorder) copy() recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return recording{r.since, append([]arrival(nil), r.list...)}
}
