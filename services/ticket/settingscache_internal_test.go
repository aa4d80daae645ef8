package ticket

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// One read is under way and one comes next, which all calls from meanwhile share: it begins after them, and what it
// finds is remembered.
func TestReadsOfSettingsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var revision int64
		r := newSettingsCache(func(context.Context, string) (*pb.ProjectSettings, error) {
			revision++
			found := &pb.ProjectSettings{Revision: revision}
			<-time.After(time.Second / time.Duration(revision)) // a later read is faster
			return found, nil
		}, telemetry.Meter{})
		read := func(want int64) {
			if got, err := r.fresh(t.Context(), "demo"); err != nil || got.GetRevision() != want {
				t.Errorf("read %v, %v, want revision %d", got, err, want)
			}
		}
		go read(1)
		synctest.Wait()
		for range 10 {
			go read(2)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := r.fresh(ctx, "demo"); err == nil {
			t.Error("a call does not end with its context")
		}
		<-time.After(time.Minute)
		if got := r.of("demo").GetRevision(); got != 2 || revision != 2 {
			t.Errorf("after %d reads, revision %d is remembered", revision, got)
		}
	})
}
