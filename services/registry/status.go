package registry

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
)

// The contract's states of a function, and of its instances.
const (
	stateRunning    = "Running"
	statePending    = "Pending"
	stateFailed     = "Failed"
	stateNotRunning = "Not Running"
	stateUnknown    = "Unknown"

	stateWaiting    = "Waiting"
	stateTerminated = "Terminated"
)

// runnerView is what this replica knows of the runners. It is safe for concurrent use.
type runnerView struct {
	now func() time.Time
	// redisTime is the clock of generations.
	redisTime     func() time.Time
	silenceLimit  time.Duration // a runner that is silent for so long is gone
	completeAfter time.Duration // after so long all runners were heard
	grace         time.Duration

	mu        sync.Mutex
	runners   map[string]report
	listening time.Time // since when; zero while the bus is lost
}

// report is a runner's last heartbeat.
type report struct {
	at      time.Time
	hosted  map[hosted][]*pb.InstanceStatus
	uploads map[hosted][]*pb.UploadStatus
}

type hosted struct{ project, function string }

func newRunnerView(heartbeat, grace time.Duration, now, redisTime func() time.Time) *runnerView {
	return &runnerView{
		now: now, redisTime: redisTime, grace: grace, runners: map[string]report{},
		silenceLimit:  3 * heartbeat,
		completeAfter: heartbeat * 3 / 2, // every runner spoke once, late by no more than half an interval
	}
}

// setConnected tells the view whether the bus is connected: silence means nothing without it.
func (b *runnerView) setConnected(yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !yes:
		b.listening = time.Time{}
	case b.listening.IsZero():
		b.listening = b.now()
	}
}

// receive records a heartbeat.
func (b *runnerView) receive(s *pb.RunnerStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	maps.DeleteFunc(b.runners, func(_ string, r report) bool { return now.Sub(r.at) > b.silenceLimit })
	if s.GetLeaving() {
		delete(b.runners, s.GetRunner())
		return
	}
	r := report{at: now, hosted: map[hosted][]*pb.InstanceStatus{}, uploads: map[hosted][]*pb.UploadStatus{}}
	for _, i := range s.GetInstances() {
		key := hosted{i.GetProject(), i.GetFunction()}
		r.hosted[key] = append(r.hosted[key], i)
	}
	for _, u := range s.GetUploads() {
		key := hosted{u.GetProject(), u.GetFunction()}
		r.uploads[key] = append(r.uploads[key], u)
	}
	b.runners[s.GetRunner()] = r
}

// ready is nil once all runners have had the time to report.
func (b *runnerView) ready() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isComplete() {
		return problem.New(problem.Unavailable, "the runners were not listened to for long enough yet")
	}
	return nil
}

func (b *runnerView) isComplete() bool {
	return !b.listening.IsZero() && b.now().Sub(b.listening) >= b.completeAfter
}

// status returns the state of a function. It has the instances of all generations, as an earlier one serves until the
// next does, and of uploads beside the one that serves. The state is about the newest generation alone:
//
//	Unknown      the bus is lost, or not listened to for long enough
//	Running      else: an instance of it runs
//	Pending      else: an instance of it waits or starts
//	Failed       else: its instances have terminated, for the reason in its log
//	Pending      else: it is younger than the grace period, or there are only
//	             instances of earlier generations
//	Not Running  else: no runner hosts it, or there is no runner
func (b *runnerView) status(project string, f *pb.Function) response.FunctionStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := response.FunctionStatus{Instances: []response.FunctionInstance{}}
	newest := map[string]bool{} // the states of the newest generation's instances
	for _, r := range b.live() {
		for _, i := range r.hosted[hosted{project, f.GetName()}] {
			s.Instances = append(s.Instances, response.FunctionInstance{State: i.GetState(), Name: i.GetName()})
			// A runner may know of a newer generation than the reader of f.
			if i.GetGeneration() >= f.GetGeneration() && !i.GetAside() {
				newest[i.GetState()] = true
			}
		}
	}
	slices.SortFunc(s.Instances, func(a, b response.FunctionInstance) int { return cmp.Compare(a.Name, b.Name) })
	// Generations are times, see after.
	young := b.redisTime().Sub(time.UnixMilli(f.GetGeneration())) < b.grace
	switch {
	case !b.isComplete():
		s.State = stateUnknown
	case newest[stateRunning]:
		s.State = stateRunning
	case newest[stateWaiting]:
		s.State = statePending
	case newest[stateTerminated]:
		s.State = stateFailed
	case young || len(s.Instances) > 0:
		s.State = statePending
	default:
		s.State = stateNotRunning
	}
	return s
}
