package director

import (
	"math"
	"sync"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/notify"
)

// inbox collects what happens, for a leader's loop. Its writers never wait.
type inbox struct {
	signal notify.Signal

	mu     sync.Mutex
	news   news
	retire bool
}

// news are what came since the loop looked last. queues are those in which tickets changed, each with the position of
// the feed up to which runs are to see it; everywhere is that for all queues. A change of a config alone is none: the
// config that changed runs anyway.
type news struct {
	poked, configs, functions, servers, answered, roused bool

	queues               map[string]uint64
	position, everywhere uint64
	parts                []part
}

// concerns returns up to where in the feed the function of a config that serves a queue may see something else now.
func (n *news) concerns(queue string) uint64 { return max(n.everywhere, n.queues[queue]) }

// touched reports whether functions may see something else now.
func (n *news) touched() bool { return n.everywhere > 0 || len(n.queues) > 0 }

// touch notes that something changed, by a position of the feed, in these queues; without any, everywhere.
func (n *news) touch(position uint64, queues []string) {
	if n.queues == nil {
		n.queues = map[string]uint64{}
	}
	for _, queue := range queues {
		n.queues[queue] = max(n.queues[queue], position)
	}
	if len(queues) == 0 || len(n.queues) > mostQueues {
		n.everywhere = max(n.everywhere, position)
	}
}

// mostQueues is how many queues are told apart: their names come with tickets.
const mostQueues = 256

// part is a part of the answer to a run.
type part struct {
	run *run
	*pb.RunPart
	// proposals are the proposals of the part, the preferred one first.
	proposals []*proposal
	// bytes is the size of its message.
	bytes int
	// dropped is the number of its proposals that were dropped for lack of room.
	dropped int
}

func newInbox() *inbox { return &inbox{signal: notify.New()} }

// take returns the news and forgets them.
func (i *inbox) take() news {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := i.news
	i.news = news{}
	return n
}

// poke adds that something happened in the project.
func (i *inbox) poke(p *pb.Poke) {
	if p.GetUnasked() != "" { // it is for runners
		return
	}
	i.change(func() {
		i.news.poked = true
		switch beside := p.GetFunctions() || p.GetServers() || p.GetAnswered(); {
		case p.GetPosition() > 0 && !beside:
			i.news.touch(p.GetPosition(), p.GetQueues())
		case !p.GetConfigs() || beside:
			i.news.touch(math.MaxUint64, p.GetQueues()) // whatever a run saw
		}
		i.news.configs = i.news.configs || p.GetConfigs()
		i.news.functions = i.news.functions || p.GetFunctions()
		i.news.servers = i.news.servers || p.GetServers()
		i.news.answered = i.news.answered || p.GetAnswered()
		i.news.position = max(i.news.position, p.GetPosition())
	})
}

// rouse adds a change without a poke.
func (i *inbox) rouse() { i.change(func() { i.news.poked, i.news.roused = true, true }) }

// add adds a part of an answer.
func (i *inbox) add(p part) { i.change(func() { i.news.parts = append(i.news.parts, p) }) }

// startRetiring makes the loop end once nothing is under way.
func (i *inbox) startRetiring() { i.change(func() { i.retire = true }) }

// change changes the inbox, and wakes the loop.
func (i *inbox) change(do func()) {
	i.mu.Lock()
	do()
	i.mu.Unlock()
	i.signal.Notify()
}

// retiring reports whether the loop is to end.
func (i *inbox) retiring() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.retire
}
