package state

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// FeedKept limits how long the feed has a ticket that no longer waits, while a director leads the project.
const FeedKept = 2 * feedAge

// ForgetPlayer takes a player out of a ticket that has its result and is for others, too: they can still read it.
// It is false when the ticket has no result, or there are no others, or the ticket changes meanwhile.
func (s *Store) ForgetPlayer(ctx context.Context, project, id, player string) (done bool, err error) {
	k := keysOf(project)
	row, err := rowOf(s.redis.HMGet(ctx, k.ticket(id), "b"))
	if err != nil {
		return false, err
	}
	read, is := row[0].(string)
	if !is {
		return false, nil
	}
	t, err := parse[pb.Ticket]("ticket "+id, read)
	if err != nil {
		return false, err
	}
	t.Players = slices.DeleteFunc(t.Players, func(p *pb.Player) bool { return p.GetId() == player })
	if t.GetOwner() == player { // what the ticket has besides its players is the owner's
		if len(t.GetPlayers()) == 0 {
			return false, nil
		}
		t.Owner = t.GetPlayers()[0].GetId()
		t.AttributeNames, t.AttributeValues, t.Properties = nil, nil, nil
	}
	body, err := proto.Marshal(t)
	if err != nil {
		return false, corrupt("ticket "+id, err)
	}
	err = s.eval(ctx, s.call("ticket_forget", k, ids{ofTicket: id},
		"id", id,
		"player", player,
		"read", read,
		"new_body", body,
		"new_owner", t.GetOwner(),
		"new_players", strings.Join(PlayersOf(t), "\n")), &done)
	return done, err
}
