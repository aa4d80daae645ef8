package runner

import (
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/observe/histogram"
)

const (
	// healthMinutes is how many minutes, the current one included, a runner remembers how runs went.
	healthMinutes = 5
	// maxHealth is the number of a function's uploads that a runner remembers. Each takes 6 KiB.
	maxHealth = 8
	// maxUploads is the number of uploads in a heartbeat.
	maxUploads = 256
)

// health counts the recent runs of a function's uploads. It is safe for concurrent use.
type health struct {
	now     func() time.Time // of Redis: others read the times
	canary  bool             // the runs are a canary's
	mu      sync.Mutex
	uploads map[int64]*uploadHealth
}

// uploadHealth is the health of one upload.
type uploadHealth struct {
	status  *pb.UploadStatus // all but what is counted by the minute
	used    time.Time
	minutes [healthMinutes]healthMinute
}

type healthMinute struct {
	number                 int64 // of the minute, since 1970
	runs, failed, unserved int64
	times, memory          histogram.Counts
}

func newHealth(now func() time.Time) *health {
	return &health{now: now, uploads: map[int64]*uploadHealth{}}
}

// of returns the health of an upload, which begins anew with each generation. The caller has the lock.
func (h *health) of(spec *pb.Function, now time.Time) *uploadHealth {
	number := spec.GetVersion()
	u := h.uploads[number]
	if u == nil && len(h.uploads) >= maxHealth {
		oldest := int64(-1)
		for other, u := range h.uploads {
			if oldest < 0 || u.used.Before(h.uploads[oldest].used) {
				oldest = other
			}
		}
		delete(h.uploads, oldest)
	}
	if u == nil || u.status.GetGeneration() != spec.GetGeneration() {
		u = &uploadHealth{status: &pb.UploadStatus{Upload: number, Generation: spec.GetGeneration()}}
		h.uploads[number] = u
	}
	u.used = now
	return u
}

// minute is the counts of the current minute.
func (u *uploadHealth) minute(now time.Time) *healthMinute {
	number := now.Unix() / 60
	m := &u.minutes[number%healthMinutes]
	if m.number != number {
		*m = healthMinute{number: number}
	}
	return m
}

// count counts a run that an instance was given, unless it had no ticket.
func (h *health) count(spec *pb.Function, config string, stats *pb.RunStats, err error) {
	if err == nil && stats.GetTickets() == 0 {
		return
	}
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.of(spec, now)
	m := u.minute(now)
	m.runs++
	u.status.AllRuns++
	if stats.GetRun() > 0 {
		m.times.Add(stats.GetRun())
	}
	if stats.GetMemory() > 0 {
		m.memory.Add(stats.GetMemory() >> 10)
	}
	if err != nil {
		m.failed++
		u.fail(config, err, now)
	}
}

// countUnserved counts a run that got no instance, since the upload's instances fail.
func (h *health) countUnserved(spec *pb.Function, config string, err error) {
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.of(spec, now)
	u.minute(now).unserved++
	u.status.AllRuns++
	u.fail(config, err, now)
}

func (u *uploadHealth) fail(config string, err error, now time.Time) {
	text := failureText(err)
	u.status.AllFailed++
	u.status.Error = strings.ToValidUTF8(text[:min(len(text), maxReason)], "")
	u.status.ErrorTime, u.status.ErrorConfig = now.UnixMilli(), config
}

// countRepeat counts a failed run of an upload that was repeated on another one.
func (h *health) countRepeat(spec *pb.Function, on int64, passed bool) {
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.of(spec, now).status
	if s.GetRepeatedOn() != on {
		s.RepeatedOn, s.Repeated, s.Passed = on, 0, 0
	}
	s.Repeated++
	if passed {
		s.Passed++
	}
}

// compare adds a comparison of an upload that runs in the shadow of another one.
func (h *health) compare(spec *pb.Function, with int64, add func(*pb.Comparison)) {
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.of(spec, now).status
	if s.GetCompared().GetWith() != with {
		s.Compared = &pb.Comparison{With: with}
	}
	add(s.Compared)
}

// appendStatus appends the health of uploads with remembered runs.
func (h *health) appendStatus(list []*pb.UploadStatus, of functionKey, record *pb.Function) []*pb.UploadStatus {
	now := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range h.uploads {
		if now.Sub(u.used) > healthMinutes*time.Minute || len(list) >= maxUploads {
			continue
		}
		status := u.statusFor(of, record, now)
		status.Canary = h.canary
		list = append(list, status)
	}
	return list
}

// statusFor returns the health for a heartbeat.
func (u *uploadHealth) statusFor(of functionKey, record *pb.Function, now time.Time) *pb.UploadStatus {
	s := proto.CloneOf(u.status)
	s.Project, s.Function, s.Worked = of.project, of.function, hasWorked(record, s)
	var times, memory histogram.Counts
	for i := range u.minutes {
		m := &u.minutes[i]
		if now.Unix()/60-m.number >= healthMinutes {
			continue
		}
		s.Runs, s.Failed, s.Unserved = s.GetRuns()+m.runs, s.GetFailed()+m.failed, s.GetUnserved()+m.unserved
		times.Merge(m.times[:])
		memory.Merge(m.memory[:])
	}
	s.Times, s.Memory = times.List(), memory.List()
	return s
}

// hasWorked reports whether the function's record says already that an upload worked in its generation.
func hasWorked(record *pb.Function, s *pb.UploadStatus) bool {
	v := uploads.Of(record, s.GetUpload())
	return v != nil && v.GetWorked() >= s.GetGeneration()
}
