package registry

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// However much the uploads of some projects hold, there is room for one of another project.
func TestUploadsOfAProjectLeaveRoomForOthers(t *testing.T) {
	a := newAdmission()
	var slots []*uploadSlot
	for n := range 5 {
		project := fmt.Sprint("stranger", n)
		for range maxProjectUploads {
			slot, err := a.enter(project)
			must(t, err)
			slots = append(slots, slot)
			for n := 0; n < uploadMemory>>20 && slot.hold(1<<20) == nil; n++ {
				continue
			}
		}
		if _, err := a.enter(project); problem.KindOf(err) != problem.Limited {
			t.Errorf("one more upload got %v", err)
		}
	}
	slot, err := a.enter("victim")
	must(t, err)
	must(t, slot.hold(3<<20))
	for _, slot := range append(slots, slot) {
		slot.leave()
	}
	uploads, _ := a.uploads.Used()
	if bytes, _ := a.memory.Used(); uploads != 0 || bytes != 0 {
		t.Errorf("%d uploads hold %d bytes when all have left", uploads, bytes)
	}
}

// An upload that is unpacked holds its module instead of its file, and waits for its turn no longer than it may.
func TestUnpackingTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission()
		slot, err := a.enter("one")
		must(t, err)
		file := guest{}.wasm()
		must(t, slot.hold(2*len(file)))
		limits := limits{archive: 1 << 20, module: 1 << 20}
		if _, _, err := slot.extract(t.Context(), limits, file, ""); err != nil || slot.held != 2*int64(len(file)) {
			t.Errorf("it holds %d bytes, %v", slot.held, err)
		}
		for range a.unpacking.Places {
			_, err := a.unpacking.Enter(t.Context(), "slow")
			must(t, err)
		}
		began := time.Now()
		_, _, err = slot.extract(t.Context(), limits, file, "")
		if problem.KindOf(err) != problem.Limited || time.Since(began) != unpackPatience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := slot.extract(ctx, limits, file, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("an upload that was canceled got %v", err)
		}
	})
}

// The reads of one project leave room for other projects' reads, and end in time.
func TestReadsOfLogsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registry{logReads: newLogReads()}
		for project := range 5 {
			for n := range projectLogReads + 1 {
				_, err := r.readLog(t.Context(), fmt.Sprint(project))
				if n < projectLogReads && project < logReads/projectLogReads {
					must(t, err)
				} else if f, ok := errors.AsType[*problem.Error](err); !ok || f.Kind != problem.Limited || f.RetryAfter <= 0 {
					t.Errorf("read %d of project %d: %v", n, project, err)
				}
			}
		}
	})
}
