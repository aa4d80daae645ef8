package ticket

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// notifyEvery is how long the pokes of a project are collected after one was sent. Each costs the bus, the director and
// every runner; a thousand a second tell them as much as one for each group of creates.
const notifyEvery = time.Millisecond

// changeNotifier pokes the bus about new tickets: at once when there was nothing to tell before, and then with the last
// position of each notifyEvery.
type changeNotifier struct {
	send func(ctx context.Context, project string, position uint64)

	mu sync.Mutex
	// later has the projects that were poked just now, and the position of which they are still to learn, 0 for none.
	later map[string]uint64
}

func newChangeNotifier(send func(ctx context.Context, project string, position uint64)) *changeNotifier {
	return &changeNotifier{send: send, later: map[string]uint64{}}
}

func (p *changeNotifier) changed(ctx context.Context, project string, position uint64) {
	p.mu.Lock()
	next, resting := p.later[project]
	if !resting {
		p.later[project] = 0
	} else if position > next {
		p.later[project] = position
	}
	p.mu.Unlock()
	if resting {
		return
	}
	p.send(ctx, project, position)
	p.rest(telemetry.Detach(ctx), project)
}

// rest sends what was collected, after notifyEvery.
func (p *changeNotifier) rest(ctx context.Context, project string) {
	time.AfterFunc(notifyEvery, func() {
		p.mu.Lock()
		position := p.later[project]
		if position == 0 {
			delete(p.later, project)
		} else {
			p.later[project] = 0
		}
		p.mu.Unlock()
		if position > 0 {
			p.send(ctx, project, position)
			p.rest(ctx, project)
		}
	})
}
