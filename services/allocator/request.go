package allocator

import (
	"context"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/state"
)

// hostingOf is the hosting of a match without the keys.
func hostingOf(m *pb.Match) provider.Hosting {
	t := state.TargetOf(m)
	return provider.Hosting{Profile: t.Profile, Fleet: t.Fleet, Region: t.Region}
}

// refOf is the Ref of an allocation with its keys. sealed are the encrypted keys of the config.
func (s *service) refOf(project, match, config string, h provider.Hosting, sealed *pb.Hosting) (provider.Ref, error) {
	keys, err := s.Keys.OpenHosting(project, config, sealed)
	if err != nil {
		return provider.Ref{}, err
	}
	h.Access, h.Secret = provider.Secret(keys.GetAccess()), provider.Secret(keys.GetSecret())
	return provider.Ref{Project: project, Match: match, Hosting: h}, nil
}

// requestOf is the request for a match's server. A provider whose servers get no token does not have one signed.
// players has the players of each ticket.
func (s *service) requestOf(
	ctx context.Context, project string, m *pb.Match, players [][]string,
) (*provider.Request, error) {
	ref, err := s.refOf(project, m.GetId(), m.GetConfig(), hostingOf(m), m.GetHosting())
	if err != nil {
		return nil, err
	}
	r := &provider.Request{Ref: ref, Config: m.GetConfig(), Backfill: m.GetBackfill()}
	p := m.GetProposal()
	for _, team := range p.GetTeams() {
		n := min(len(team.GetTickets()), len(players))
		r.Teams = append(r.Teams, provider.Team{Name: team.GetName(), Tickets: team.GetTickets(), Players: players[:n]})
		players = players[n:]
	}
	if r.Properties = p.GetMatchProperties(); len(r.Properties) == 0 {
		r.Properties = p.GetAssignmentProperties()
	}
	if s.Tokens != nil {
		r.Mint = func() (provider.Secret, error) {
			text, _, err := s.mint(ctx, ref, m.GetBackfill())
			return provider.Secret(text), err
		}
	}
	return r, nil
}

// mint signs a token for a server, and notes among the changes of its project which key signs.
func (s *service) mint(ctx context.Context, ref provider.Ref, backfill string) (string, time.Time, error) {
	text, expires, err := s.Tokens.Mint(tokenOf(ref, backfill))
	if err == nil {
		s.noteKey(ctx, ref.Project)
	}
	return text, expires, err
}

// A key is noted again, which counts once, noteAgain after it was noted, and noteRetry after that failed.
const (
	noteAgain = time.Hour
	noteRetry = time.Minute
)

// keyNote is the key that was noted last in a project, and when the same one is noted again.
type keyNote struct {
	key  string
	next time.Time
}

func (s *service) noteKey(ctx context.Context, project string) {
	key, now := s.Tokens.Key(), s.Store.Now()
	value, _ := s.keyNotes.Load(project)
	if last, _ := value.(keyNote); last.key == key && now.Before(last.next) {
		return
	}
	s.keyNotes.Store(project, keyNote{key, now.Add(noteRetry)}) // which others do not wait for
	ctx, cancel := context.WithTimeout(ctx, s.Settings.Note)
	defer cancel()
	if err := s.Store.NoteServerKey(ctx, project, key); err != nil {
		s.Log.WarnContext(ctx, "noting the key of server tokens", "project", project, "key", key, "error", err)
		return
	}
	s.keyNotes.Store(project, keyNote{key, now.Add(noteAgain)})
}

// tokenOf is the server that a token is for.
func tokenOf(ref provider.Ref, backfill string) token.Server {
	return token.Server{
		Project: ref.Project, Allocation: ref.Allocation(), Match: ref.Match, Fleet: ref.Hosting.Fleet, Backfill: backfill,
	}
}

// serverOf is what is kept of a match's server.
func serverOf(m *pb.Match, now time.Time) *pb.GameServer {
	h := hostingOf(m)
	return &pb.GameServer{
		Config: m.GetConfig(), Backfill: m.GetBackfill(), Allocated: now.UnixMilli(), Region: h.Region,
		Hosting: &pb.Hosting{Profile: h.Profile, Fleet: h.Fleet, Keys: m.GetHosting().GetKeys()},
	}
}
