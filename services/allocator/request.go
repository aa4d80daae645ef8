package allocator

import (
	"cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/token"
)

// refOf names a match's allocation. What the proposal asks for goes before what the config says.
func (s *service) refOf(project string, m *pb.Match) (provider.Ref, error) {
	config, override := m.GetHosting(), m.GetProposal().GetHosting()
	keys, err := s.Keys.OpenHosting(project, m.GetConfig(), config)
	if err != nil {
		return provider.Ref{}, err
	}
	return provider.Ref{
		Project: project,
		Match:   m.GetId(),
		Hosting: provider.Hosting{
			Profile: cmp.Or(override.GetProfile(), config.GetProfile()),
			Fleet:   cmp.Or(override.GetFleet(), config.GetFleet()),
			Region:  override.GetRegion(),
			Access:  provider.Secret(keys.GetAccess()),
			Secret:  provider.Secret(keys.GetSecret()),
		},
	}, nil
}

// requestOf is what a provider needs to know of a match.
func (s *service) requestOf(project string, m *pb.Match) (*provider.Request, error) {
	ref, err := s.refOf(project, m)
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
		text, _, err := s.Tokens.Mint(token.Server{
			Project: project, Allocation: ref.Allocation(), Match: m.GetId(), Fleet: ref.Hosting.Fleet, Backfill: m.GetBackfill(),
		})
		if err != nil {
			return nil, err
		}
		r.Token = provider.Secret(text)
	}
	return r, nil
}
