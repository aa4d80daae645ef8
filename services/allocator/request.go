package allocator

import (
	"cmp"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/token"
)

// hostingOf is where a match's server is to come from, without the keys. What the proposal asks for goes before what
// the config says.
func hostingOf(m *pb.Match) provider.Hosting {
	config, override := m.GetHosting(), m.GetProposal().GetHosting()
	return provider.Hosting{
		Profile: cmp.Or(override.GetProfile(), config.GetProfile()),
		Fleet:   cmp.Or(override.GetFleet(), config.GetFleet()),
		Region:  override.GetRegion(),
	}
}

// refOf names an allocation with its keys. sealed are those of the config.
func (s *service) refOf(project, match, config string, h provider.Hosting, sealed *pb.Hosting) (provider.Ref, error) {
	keys, err := s.Keys.OpenHosting(project, config, sealed)
	if err != nil {
		return provider.Ref{}, err
	}
	h.Access, h.Secret = provider.Secret(keys.GetAccess()), provider.Secret(keys.GetSecret())
	return provider.Ref{Project: project, Match: match, Hosting: h}, nil
}

// requestOf is what a provider needs to know of a match, the token of its server included.
func (s *service) requestOf(project string, m *pb.Match) (*provider.Request, error) {
	ref, err := s.refOf(project, m.GetId(), m.GetConfig(), hostingOf(m), m.GetHosting())
	if err != nil {
		return nil, err
	}
	r := &provider.Request{Ref: ref, Config: m.GetConfig(), Backfill: m.GetBackfill()}
	p := m.GetProposal()
	for _, team := range p.GetTeams() {
		r.Teams = append(r.Teams, provider.Team{Name: team.GetName(), Tickets: team.GetTickets()})
	}
	if r.Properties = p.GetMatchProperties(); len(r.Properties) == 0 {
		r.Properties = p.GetAssignmentProperties()
	}
	if s.Tokens != nil {
		text, _, err := s.Tokens.Mint(bearerOf(ref, m.GetBackfill()))
		if err != nil {
			return nil, err
		}
		r.Token = provider.Secret(text)
	}
	return r, nil
}

// bearerOf is who a server's token is for.
func bearerOf(ref provider.Ref, backfill string) token.Server {
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
