package state

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// tellFull is the least time between two events that a target has no server.
const tellFull = time.Minute

// Target is where a match's server comes from.
type Target struct{ Profile, Fleet, Region string }

// TargetOf is the target of a match that needs a server. The proposal's hosting overrides the config's.
func TargetOf(m *pb.Match) Target {
	config, override := m.GetHosting(), m.GetProposal().GetHosting()
	return Target{
		Profile: cmp.Or(override.GetProfile(), config.GetProfile()),
		Fleet:   cmp.Or(override.GetFleet(), config.GetFleet()),
		Region:  override.GetRegion(),
	}
}

// name is the target's name in the hash of credits. All names are of one length, however long the fleet's is.
func (t Target) name() string {
	sum := sha256.Sum256([]byte(t.Profile + "\x00" + t.Fleet + "\x00" + t.Region))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// neededTarget is the name of a match's target, and "" for a match that needs no server. If the proposal changes the
// config's target, there follows the name of the target that all of these share until hosting has served them, see
// script/include/credit.lua.
func neededTarget(m *pb.Match) string {
	if m.GetPlace() != PlaceHosting {
		return ""
	}
	t, config := TargetOf(m), Target{Profile: m.GetHosting().GetProfile(), Fleet: m.GetHosting().GetFleet()}
	if t == config {
		return t.name()
	}
	return t.name() + " ~" + config.name()
}

// RefuseServer notes that hosting has no server for a match now: no other match of its target is claimed, but for one
// at a time, until hosting gives one again. reason and detail are for an event. It is false when no event was due.
func (s *Store) RefuseServer(
	ctx context.Context, project string, m *pb.Match, reason, detail string,
) (told bool, err error) {
	event := matchEvent(m, pb.Event_KIND_FULL)
	event.Reason, event.Detail = reason, detail
	err = s.eval(ctx, s.call("hosting_refuse", keysOf(project), ids{ofMatch: m.GetId()},
		"event", s.encodeEvent(event),
		"told_every", tellFull.Milliseconds()), &told)
	return told, err
}
