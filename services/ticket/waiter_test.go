package ticket

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/state"
)

func TestAwait(t *testing.T) {
	unread := errors.New("the ticket cannot be read")
	for name, c := range map[string]struct {
		// resolved is when the ticket gets its result (0: never), told when the waiter is woken, both from the beginning of
		// the wait of 12 s. carried is the result in the wake-up, of the project "p" unless of says otherwise, and sent when
		// it was sent (0: as it is told).
		resolved, told, sent time.Duration
		carried              *pb.Assignment
		of                   string
		hurried, left        time.Duration
		err                  error
		// after is how long it takes, and looks how often the ticket is read.
		after time.Duration
		looks int
		got   bool
	}{
		"woken": {resolved: time.Second, told: time.Second, after: time.Second, looks: 2, got: true},
		"woken again": {resolved: 7 * time.Second, told: 7 * time.Second, after: 7 * time.Second, looks: 3,
			got: true},
		"the wake-up is lost":   {resolved: time.Second, after: recheck, looks: 2, got: true},
		"woken with the result": {told: time.Second, carried: new(pb.Assignment), after: time.Second, looks: 1, got: true},
		"woken late with the result": {resolved: time.Second, told: 4 * time.Second, sent: time.Second,
			carried: new(pb.Assignment), after: 4 * time.Second, looks: 2, got: true},
		"woken with that of another project": {
			told: time.Second, carried: new(pb.Assignment), of: "q", after: 12 * time.Second, looks: 4},
		"no result":           {after: 12 * time.Second, looks: 4},
		"woken for nothing":   {told: time.Second, after: 12 * time.Second, looks: 5},
		"a result at the end": {resolved: 11 * time.Second, after: 12 * time.Second, looks: 4, got: true},
		"the service ends":    {hurried: time.Second, after: time.Second, looks: 1},
		"the player leaves":   {left: time.Second, after: time.Second, looks: 1},
		"an error":            {err: unread, looks: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWaiters()
				began, looks := time.Now(), 0
				at := func(d time.Duration, do func()) {
					if d > 0 {
						time.AfterFunc(d, do)
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				at(c.hurried, w.stop)
				at(c.left, cancel)
				at(c.told, func() {
					results := []*pb.Assignment{nil, c.carried}
					message := bus.AssignedMessage([]string{"s", "t"}, results)
					if c.sent > 0 {
						message.Sent = began.Add(c.sent).UnixMilli()
					}
					w.wake(cmp.Or(c.of, "p"), bus.Assigned{Message: message})
				})
				got, err := w.wait(ctx, "p", "t", 12*time.Second, viewer{}, func(context.Context) (*state.Ticket, error) {
					looks++
					ticket := &state.Ticket{Body: &pb.Ticket{Id: "t"}}
					if c.resolved > 0 && time.Since(began) >= c.resolved {
						ticket.Assignment = new(pb.Assignment)
					}
					return ticket, c.err
				})
				cancel()
				if !errors.Is(err, c.err) {
					t.Fatal(err)
				}
				if after := time.Since(began); after != c.after || looks != c.looks {
					t.Errorf("it took %v and %d looks, want %v and %d", after, looks, c.after, c.looks)
				}
				if (got.Assignment != nil) != c.got {
					t.Errorf("the result is %v", got.Assignment)
				}
				if len(w.waiting) != 0 {
					t.Errorf("%d tickets are still waited for", len(w.waiting))
				}
			})
		})
	}
}
