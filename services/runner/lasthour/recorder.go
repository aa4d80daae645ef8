// Package lasthour keeps which tickets came to a project within the last hour, and plays configs over them in virtual
// time. A runner learns of every ticket anyway, so that costs players nothing. What is kept names no player, and is in
// the memory of the runner alone: one that starts, or begins to host the project, begins anew.
package lasthour

import (
	"bytes"
	"hash/maphash"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

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
	// body is the ticket with numbers instead of the ids of players, and without what else tells whose it is.
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
	seed    maphash.Seed // of the numbers of players: it is known here alone, and other recordings have other numbers

	anonymous, player, number []byte // are used again
}

// NewRecorder begins a recording.
func NewRecorder(q *Quota, now time.Time) *Recorder {
	q.recorders.Add(1)
	return &Recorder{quota: q, since: now.UnixMilli(), numbers: map[string]int{}, seed: maphash.MakeSeed()}
}

// Restart begins anew: of the tickets that came before, it is not known any more whether they wait.
func (r *Recorder) Restart(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.list, r.dropped, r.numbers, r.bytes = now.UnixMilli(), nil, 0, map[string]int{}, 0
	r.seed = maphash.MakeSeed()
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
	created, ok := r.anonymize(body)
	if !ok {
		return
	}
	r.numbers[id] = r.dropped + len(r.list)
	r.list = append(r.list, arrival{id: id, created: created, body: bytes.Clone(r.anonymous)})
	r.bytes += arrivalBytes + len(r.anonymous)
	r.bound()
}

// The fields of pb.Ticket that matter, and of pb.Player.
const (
	ticketID, ticketOwner, ticketCreated, ticketProperties, ticketTrace, ticketPlayers = 1, 2, 3, 6, 7, 8

	playerID = 1
)

// anonymize copies a ticket's body without what tells whose it is, and returns when it was created. It is false for
// what cannot be read, and for a ticket that was created before all arrivals are known.
func (r *Recorder) anonymize(body []byte) (created int64, ok bool) {
	r.anonymous = r.anonymous[:0]
	for len(body) > 0 {
		var f field
		if f, body = next(body); f.all == nil {
			return 0, false
		}
		switch {
		case f.number == ticketOwner:
			r.anonymous = r.appendNumber(r.anonymous, f)
			continue
		case f.number == ticketPlayers:
			r.anonymous = protowire.AppendBytes(append(r.anonymous, f.all[:1]...), r.anonymousPlayer(f.value))
			continue
		case f.number == ticketID, f.number == ticketTrace, f.number == ticketProperties && namesOpponents(f.value):
			continue
		case f.number == ticketCreated:
			at, _ := protowire.ConsumeVarint(f.value)
			if created = int64(at); created < r.since {
				return created, false // the players, who take most of the time, are behind it
			}
		}
		r.anonymous = append(r.anonymous, f.all...)
	}
	return created, created >= r.since
}

// anonymousPlayer is a player with a number instead of the id.
func (r *Recorder) anonymousPlayer(player []byte) []byte {
	r.player = r.player[:0]
	for len(player) > 0 {
		var f field
		if f, player = next(player); f.number == playerID {
			r.player = r.appendNumber(r.player, f)
		} else {
			r.player = append(r.player, f.all...)
		}
	}
	return r.player
}

// appendNumber appends the field with the id of a player, with a number instead.
func (r *Recorder) appendNumber(to []byte, id field) []byte {
	r.number = strconv.AppendUint(r.number[:0], maphash.Bytes(r.seed, id.value), 36)
	return protowire.AppendBytes(append(to, id.all[:1]...), r.number)
}

// namesOpponents reports whether an entry of properties has the ids of opponents.
func namesOpponents(entry []byte) bool {
	f, _ := next(entry) // the name comes first
	return string(f.value) == definition.Recent
}

// field is a field of a message: all of it, and what is behind its tag and length.
type field struct {
	number     protowire.Number
	all, value []byte
}

// next splits the first field off a message. It is empty, as the rest, where there is none.
func next(message []byte) (f field, rest []byte) {
	number, kind, n := protowire.ConsumeField(message)
	if n < 0 {
		return field{}, nil
	}
	f = field{number: number, all: message[:n]}
	_, _, tag := protowire.ConsumeTag(f.all)
	if f.value = f.all[tag:]; kind == protowire.BytesType {
		f.value, _ = protowire.ConsumeBytes(f.value)
	}
	return f, message[n:]
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
