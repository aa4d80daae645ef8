// Package upload knows the uploads of a match function: which one runs, which one worked before, and which are kept.
// The registry writes them, and runners run them. It has no I/O.
package upload

import (
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Of returns an upload of a function by its number, nil if it is not kept.
func Of(f *pb.Function, number int64) *pb.FunctionVersion {
	for _, v := range f.GetVersions() {
		if v.GetVersion() == number {
			return v
		}
	}
	return nil
}

// As returns the function as it would be if it ran that upload, nil if it is not kept.
func As(f *pb.Function, number int64) *pb.Function {
	v := Of(f, number)
	if v == nil {
		return nil
	}
	return &pb.Function{
		Name: f.GetName(), Generation: f.GetGeneration(), Md5: v.GetMd5(), Module: v.GetModule(),
		Implementation: v.GetImplementation(), Manifest: v.GetManifest(), Version: number,
	}
}

// LastGood returns the upload that worked last, of those that do not run; nil if none did.
func LastGood(f *pb.Function) *pb.FunctionVersion {
	var last *pb.FunctionVersion
	for _, v := range f.GetVersions() {
		if v.GetVersion() != f.GetVersion() && v.GetWorked() > last.GetWorked() {
			last = v
		}
	}
	return last
}

// TrialTarget returns the upload that a function goes back to if the one that runs fails where it does not, nil if it
// does not go back by itself now.
func TrialTarget(f *pb.Function, now time.Time) *pb.FunctionVersion {
	if f.GetNoReturn() || f.GetTrialUntil() <= now.UnixMilli() {
		return nil
	}
	return LastGood(f)
}

// RepeatTarget returns the upload on which failed runs of an upload are repeated, for proof that it is to blame, nil if
// there is none: TrialTarget for the upload that runs, and that one for its canary. Runs of an earlier generation prove
// nothing.
func RepeatTarget(f *pb.Function, upload, generation int64, now time.Time) *pb.FunctionVersion {
	c := f.GetCanary()
	switch {
	case upload == f.GetVersion() && generation == f.GetGeneration():
		return TrialTarget(f, now)
	case c != nil && upload == c.GetUpload() && generation == c.GetGeneration() && !f.GetNoReturn():
		return Of(f, f.GetVersion())
	}
	return nil
}

// Protected returns whether an upload is kept however many came after it: it runs, also in the shadow or as a canary,
// it is the last one that worked before, or a config names it.
func Protected(f *pb.Function, number int64, pinned map[int64]bool) bool {
	return number == f.GetVersion() || number == f.GetShadow() || number == f.GetCanary().GetUpload() || pinned[number] ||
		number == LastGood(f).GetVersion() && LastGood(f) != nil
}

// Retain returns the uploads of a function that are kept, of which the newest is the first: the newest ones, so many at
// most, and those that are protected.
func Retain(f *pb.Function, most int, pinned map[int64]bool) []*pb.FunctionVersion {
	kept := slices.Clone(f.GetVersions())
	for i := len(kept) - 1; i >= 0 && len(kept) > most; i-- {
		if !Protected(f, kept[i].GetVersion(), pinned) {
			kept = slices.Delete(kept, i, i+1)
		}
	}
	return kept
}

// Pinned returns the uploads of each function that configs name.
func Pinned(configs map[string]*pb.Config) map[string]map[int64]bool {
	pinned := map[string]map[int64]bool{}
	for _, c := range configs {
		if c.GetUpload() == 0 {
			continue
		}
		if pinned[c.GetFunction()] == nil {
			pinned[c.GetFunction()] = map[int64]bool{}
		}
		pinned[c.GetFunction()][c.GetUpload()] = true
	}
	return pinned
}
