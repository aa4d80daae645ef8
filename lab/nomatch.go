package lab

import (
	"fmt"
	"slices"
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/format"
)

// whyNone says why a function made no match of tickets.
func whyNone(r *report, config *pb.Config, tickets []*pb.Ticket, explanations []*pb.Explanation) string {
	if !r.ran() {
		return "the function was not run, since no pool has a ticket" + whyOutside(config, tickets)
	}
	if r.Proposed > 0 {
		return fmt.Sprintf("of %s none can be used", format.Plural(r.Proposed, "proposal"))
	}
	why := "the function proposed nothing for " + format.Plural(r.Tickets-r.Outside, "ticket")
	var reasons []string
	for _, e := range explanations {
		reasons = append(reasons, e.GetReason())
	}
	if len(reasons) == 0 {
		return why + " (--explain ID asks it why)"
	}
	return fmt.Sprintf("%s; of %s it says: %s", why, explanations[0].GetTicket(), strings.Join(reasons, "; "))
}

// whyOutside says why no ticket is in a pool, if that is the queue or an attribute that no ticket has.
func whyOutside(config *pb.Config, tickets []*pb.Ticket) string {
	queue := config.GetQueue()
	waits := func(t *pb.Ticket) bool {
		return queue == "" && len(t.GetQueues()) == 0 || slices.Contains(t.GetQueues(), queue)
	}
	switch {
	case !slices.ContainsFunc(tickets, waits) && queue == "":
		return ": the config has no queue, and all tickets wait in queues"
	case !slices.ContainsFunc(tickets, waits):
		return fmt.Sprintf(": the config takes tickets of the queue %q, and none waits there", queue)
	}
	for _, pool := range config.GetPools() {
		for _, f := range pool.GetFilters() {
			has := func(t *pb.Ticket) bool { return slices.Contains(t.GetAttributeNames(), f.GetAttribute()) }
			if f.GetAttribute() != "created" && !slices.ContainsFunc(tickets, has) {
				return fmt.Sprintf(": no ticket has the attribute %q, which a pool filters by", f.GetAttribute())
			}
		}
	}
	return ""
}
