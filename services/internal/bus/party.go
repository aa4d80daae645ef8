package bus

import (
	"context"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// NotifyParty wakes the requests that wait for changes of a party. A failure is logged: they also look for themselves
// now and then.
func (b *Bus) NotifyParty(ctx context.Context, project string, changed *pb.PartyChanged) {
	b.notify(ctx, parties, project, changed)
}

// OnParty hears of changes of parties of all projects.
func (b *Bus) OnParty(handle func(project string, changed *pb.PartyChanged)) (Subscription, error) {
	return subscribeProjects(b, parties, handle)
}
