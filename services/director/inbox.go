package director

import (
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

// news are what came since the loop looked last. queues are those in which tickets changed; everywhere is set if
// functions may see something else now for another reason. A change of a config alone is none: the config that changed
// runs anyway.
type news struct {
	poked, configs, functions, servers, answered, roused, everywhere bool

	queues   map[string]bool
	position uint64
	parts    []part
}

// concerns reports whether the function of a config that serves a queue may see something else now.
func (n *news) concerns(queue string) bool { return n.everywhere || n.queues[queue] }

// touched reports whether functions may see something else now.
func (n *news) touched() bool { return n.everywhere || len(n.queues) > 0 }

// touch notes that tickets changed in these queues; without any, everywhere.
func (n *news) touch(queues []string) {
	if n.queues == nil {
		n.queues = map[string]bool{}
	}
	for _, queue := range queues {
		n.queues[queue] = true
	}
	n.everywhere = n.everywhere || len(queues) == 0 || len(n.queues) > mostQueues
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
	i.mu.Lock()
	i.news.poked = true
	if !p.GetConfigs() || p.GetFunctions() || p.GetServers() || p.GetAnswered() || p.GetPosition() > 0 {
		i.news.touch(p.GetQueues())
	}
	i.news.configs = i.news.configs || p.GetConfigs()
	i.news.functions = i.news.functions || p.GetFunctions()
	i.news.servers = i.news.servers || p.GetServers()
	i.news.answered = i.news.answered || p.GetAnswered()
	i.news.position = max(i.news.position, p.GetPosition())
	i.mu.Unlock()
	i.signal.Notify()
}

// rouse adds a change without a poke.
func (i *inbox) rouse() {
	i.mu.Lock()
	i.news.poked, i.news.roused = true, true
	i.mu.Unlock()
	i.signal.Notify()
}

// add adds a part of an answer.
func (i *inbox) add(p part) {
	i.mu.Lock()
	i.news.parts = append(i.news.parts, p)
	i.mu.Unlock()
	i.signal.Notify()
}

// startRetiring makes the loop end once nothing is under way.
func (i *inbox) startRetiring() {
	i.mu.Lock()
	i.retire = true
	i.mu.Unlock()
	i.signal.Notify()
}

// retiring reports whether the loop is to end.
func (i *inbox) retiring() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.retire
}
