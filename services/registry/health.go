package registry

import (
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/observe/histogram"
)

// uploadKey names an upload of a function, or a canary.
type uploadKey struct {
	hosted
	upload int64
	canary bool
}

// uploadOf sums up all runners' reports of an upload; nil when none had a run of it lately.
func (b *runnerView) uploadOf(project, function string, number int64) *pb.UploadStatus {
	return b.sum(project, function, func(u *pb.UploadStatus) bool { return u.GetUpload() == number })
}

// canaryRuns sums up all runners' reports of the canary of a function; nil when none had a run of it lately.
func (b *runnerView) canaryRuns(project string, f *pb.Function) *pb.UploadStatus {
	return b.sum(project, f.GetName(), func(u *pb.UploadStatus) bool { return isCanary(f, u) })
}

func (b *runnerView) sum(project, function string, counts func(*pb.UploadStatus) bool) (sum *pb.UploadStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.live() {
		for _, u := range r.uploads[hosted{project, function}] {
			if counts(u) {
				sum = addUpload(sum, u, false)
			}
		}
	}
	return sum
}

// canaries are the functions of which a runner has a canary.
func (b *runnerView) canaries() map[hosted]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[hosted]bool{}
	for _, r := range b.live() {
		for of, list := range r.hosted {
			if slices.ContainsFunc(list, (*pb.InstanceStatus).GetCanary) {
				found[of] = true
			}
		}
	}
	return found
}

// generations sums up all runners' reports of the newest generation of each upload that serves somewhere.
func (b *runnerView) generations() map[uploadKey]*pb.UploadStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	sums, serving := map[uploadKey]*pb.UploadStatus{}, map[uploadKey]bool{}
	for _, r := range b.live() {
		for of, list := range r.uploads {
			for _, u := range list {
				key := uploadKey{of, u.GetUpload(), u.GetCanary()}
				sums[key] = addUpload(sums[key], u, true)
			}
		}
	}
	for _, r := range b.live() {
		for of, list := range r.hosted {
			for _, i := range list {
				key := uploadKey{of, i.GetUpload(), i.GetCanary()}
				if u := sums[key]; u != nil && (i.GetCanary() || !i.GetAside()) && i.GetGeneration() == u.GetGeneration() {
					serving[key] = true
				}
			}
		}
	}
	maps.DeleteFunc(sums, func(key uploadKey, _ *pb.UploadStatus) bool { return !serving[key] })
	return sums
}

// live returns the reports of runners that are not silent, by name. The caller has the lock.
func (b *runnerView) live() []report {
	now := b.now()
	var live []report
	for _, name := range slices.Sorted(maps.Keys(b.runners)) {
		if r := b.runners[name]; now.Sub(r.at) <= b.silenceLimit {
			live = append(live, r)
		}
	}
	return live
}

// addUpload adds a runner's report to a sum, which may be nil. If newest is set, only the newest generation counts.
func addUpload(sum, u *pb.UploadStatus, newest bool) *pb.UploadStatus {
	switch {
	case sum == nil || newest && u.GetGeneration() > sum.GetGeneration():
		return proto.CloneOf(u)
	case newest && u.GetGeneration() < sum.GetGeneration():
		return sum
	}
	sum.Runs += u.GetRuns()
	sum.Failed += u.GetFailed()
	sum.Unserved += u.GetUnserved()
	sum.AllRuns += u.GetAllRuns()
	sum.AllFailed += u.GetAllFailed()
	sum.Worked = sum.GetWorked() || u.GetWorked()
	if u.GetErrorTime() > sum.GetErrorTime() {
		sum.Error, sum.ErrorTime, sum.ErrorConfig = u.GetError(), u.GetErrorTime(), u.GetErrorConfig()
	}
	if sum.GetRepeatedOn() == 0 {
		sum.RepeatedOn = u.GetRepeatedOn()
	}
	if u.GetRepeatedOn() == sum.GetRepeatedOn() {
		sum.Repeated += u.GetRepeated()
		sum.Passed += u.GetPassed()
	}
	sum.Times, sum.Memory = mergeCounts(sum.GetTimes(), u.GetTimes()), mergeCounts(sum.GetMemory(), u.GetMemory())
	if c := u.GetCompared(); c != nil {
		sum.Compared = addComparison(sum.GetCompared(), c)
	}
	return sum
}

func mergeCounts(a, b []uint32) []uint32 {
	var all histogram.Counts
	all.Merge(a)
	all.Merge(b)
	return all.List()
}

func addComparison(sum, c *pb.Comparison) *pb.Comparison {
	if sum == nil || sum.GetWith() < c.GetWith() {
		return proto.CloneOf(c)
	}
	if c.GetWith() != sum.GetWith() {
		return sum
	}
	sum.Runs += c.GetRuns()
	sum.Skipped += c.GetSkipped()
	sum.Failed += c.GetFailed()
	sum.WithFailed += c.GetWithFailed()
	sum.Alike += c.GetAlike()
	sum.Matches += c.GetMatches()
	sum.WithMatches += c.GetWithMatches()
	sum.Common += c.GetCommon()
	sum.Score += c.GetScore()
	sum.WithScore += c.GetWithScore()
	return sum
}

// healthOf returns the health for an answer; nil when there were no runs.
func healthOf(u *pb.UploadStatus) *response.FunctionHealth {
	all := u.GetRuns() + u.GetUnserved()
	if all == 0 {
		return nil
	}
	h := &response.FunctionHealth{
		Runs: u.GetRuns(), Failed: u.GetFailed(), Unserved: u.GetUnserved(),
		FailedShare: float64(u.GetFailed()+u.GetUnserved()) / float64(all),
		LastError:   u.GetError(), LastErrorConfig: u.GetErrorConfig(),
		Milliseconds: quantilesOf(u.GetTimes(), float64(time.Microsecond)/float64(time.Millisecond)),
		MemoryBytes:  quantilesOf(u.GetMemory(), 1<<10),
	}
	if u.GetErrorTime() > 0 {
		h.LastErrorTime = iso8601(u.GetErrorTime())
	}
	return h
}

func quantilesOf(list []uint32, unit float64) *response.Quantiles {
	var counts histogram.Counts
	counts.Merge(list)
	if len(list) == 0 {
		return nil
	}
	return &response.Quantiles{P50: float64(counts.Quantile(0.5)) * unit, P99: float64(counts.Quantile(0.99)) * unit}
}

// shadowOf describes the upload in the shadow, nil when there is none.
func (r *registry) shadowOf(project string, f *pb.Function) *response.FunctionShadow {
	if f.GetShadow() == 0 {
		return nil
	}
	u := r.runners.uploadOf(project, f.GetName(), f.GetShadow())
	s := &response.FunctionShadow{Version: f.GetShadow(), Health: healthOf(u)}
	if c := u.GetCompared(); c.GetWith() == f.GetVersion() {
		s.Runs, s.Skipped, s.Failed, s.CurrentFailed = c.GetRuns(), c.GetSkipped(), c.GetFailed(), c.GetWithFailed()
		s.Compared, s.Matches, s.CurrentMatches, s.Common = c.GetAlike(), c.GetMatches(), c.GetWithMatches(), c.GetCommon()
		s.Score, s.CurrentScore = c.GetScore(), c.GetWithScore()
	}
	return s
}
