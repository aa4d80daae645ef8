package allocator

import (
	"cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
)

// refOf names a match's allocation. What the proposal asks for goes before what the config says.
func refOf(project string, m *pb.Match) provider.Ref {
	config, override := m.GetHosting(), m.GetProposal().GetHosting()
	return provider.Ref{
		Project: project,
		Match:   m.GetId(),
		Hosting: provider.Hosting{
			Profile: cmp.Or(override.GetProfile(), config.GetProfile()),
			Fleet:   cmp.Or(override.GetFleet(), config.GetFleet()),
			Region:  override.GetRegion(),
			Access:  provider.Secret(config.GetAccess()),
			Secret:  provider.Secret(config.GetSecret()),
		},
	}
}

// requestOf is what a provider needs to know of a match.
func requestOf(project string, m *pb.Match) *provider.Request {
	r := &provider.Request{Ref: refOf(project, m), Config: m.GetConfig()}
	p := m.GetProposal()
	for _, team := range p.GetTeams() {
		r.Teams = append(r.Teams, provider.Team{Name: team.GetName(), Tickets: team.GetTickets()})
	}
	if r.Properties = p.GetMatchProperties(); len(r.Properties) == 0 {
		r.Properties = p.GetAssignmentProperties()
	}
	return r
}
