package config

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/web"
)

// settingsBody is the settings of a project as answers have them. What was not given is not there.
type settingsBody struct {
	Tickets    *ticketRules      `json:"tickets,omitzero"`
	Acceptance *acceptanceRules  `json:"acceptance,omitzero"`
	Attributes map[string]setter `json:"attributes,omitzero"`
	Properties map[string]setter `json:"properties,omitzero"`
	Support    *supportRules     `json:"support,omitzero"`
}

type supportRules struct {
	Properties bool `json:"properties"`
}

type ticketRules struct {
	PerPlayer *perPlayer `json:"perPlayer,omitzero"`
	Listed    bool       `json:"listed,omitzero"`
	EndsTold  bool       `json:"endsTold,omitzero"`
	// RefuseUnserved is for tickets in queues that no config serves.
	RefuseUnserved bool `json:"refuseUnserved,omitzero"`
	// Silence is for tickets that nobody asks for.
	Silence *silenceRule `json:"silence,omitzero"`
}

type silenceRule struct {
	Seconds int64 `json:"seconds"`
}

type perPlayer struct {
	Limit       int64  `json:"limit"`
	WhenReached string `json:"whenReached,omitzero"`
}

type acceptanceRules struct {
	Pause *pauseRule `json:"pause,omitzero"`
}

type pauseRule struct {
	Seconds    int64 `json:"seconds"`
	MaxSeconds int64 `json:"maxSeconds"`
}

// setter says who sets an attribute or a property.
type setter struct {
	SetBy string `json:"setBy"`
	Claim string `json:"claim,omitzero"`
}

// settingsOf is what PUT accepts, and stores the same.
func settingsOf(p *pb.ProjectSettings) settingsBody {
	var b settingsBody
	if t := p.GetTickets(); t != nil {
		b.Tickets = &ticketRules{Listed: t.GetListed(), EndsTold: t.GetEndsTold(),
			RefuseUnserved: t.GetRefuseUnserved()}
		if t.GetSilence() > 0 {
			b.Tickets.Silence = &silenceRule{Seconds: t.GetSilence() / 1000}
		}
		if t.GetPlayerLimit() > 0 {
			b.Tickets.PerPlayer = &perPlayer{Limit: t.GetPlayerLimit(), WhenReached: t.GetWhenReached()}
		}
	}
	if a := p.GetAcceptance(); a != nil {
		b.Acceptance = new(acceptanceRules)
		if a.GetFirstPause() > 0 {
			b.Acceptance.Pause = &pauseRule{Seconds: a.GetFirstPause() / 1000, MaxSeconds: a.GetLongestPause() / 1000}
		}
	}
	if p.GetSupportProperties() {
		b.Support = &supportRules{Properties: true}
	}
	if rules := p.GetAttributes(); len(rules) > 0 {
		b.Attributes = make(map[string]setter, len(rules))
		for _, rule := range rules {
			b.Attributes[rule.GetAttribute()] = setter{SetBy: rule.GetSetBy(), Claim: rule.GetClaim()}
		}
	}
	if rules := p.GetProperties(); len(rules) > 0 {
		b.Properties = make(map[string]setter, len(rules))
		for _, rule := range rules {
			b.Properties[rule.GetProperty()] = setter{SetBy: rule.GetSetBy(), Claim: rule.GetClaim()}
		}
	}
	return b
}

func (s *service) getSettings(c echo.Context) error {
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	p, err := s.Store.Settings(c.Request().Context(), c.Param("project"))
	if err != nil {
		return err
	}
	switch revision := p.GetRevision(); {
	case asked.match != nil && !areAny(asked.match, revision):
		return settingsConditionFailed(revision)
	case areAny(asked.noneMatch, revision):
		c.Response().Header().Set("ETag", etag(revision))
		return c.NoContent(http.StatusNotModified)
	}
	return respondSettings(c, p)
}

func (s *service) putSettings(c echo.Context) error {
	caller := auth.From(c)
	if err := auth.MustOwnProject(caller); err != nil {
		return err
	}
	text, err := web.ReadJSON(c)
	if err != nil {
		return err
	}
	r := definition.NewReader(text, s.Limits)
	p := r.ProjectSettings()
	if err := r.Err(); err != nil {
		return respondRefused(c, err)
	}
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	p.ChangedBy = caller.Subject
	if err := s.storeSettings(c.Request().Context(), c.Param("project"), p, asked); err != nil {
		return err
	}
	return respondSettings(c, p)
}

// storeSettings replaces the settings, if those that are there are what the condition asks for.
func (s *service) storeSettings(ctx context.Context, project string, p *pb.ProjectSettings, asked condition) error {
	if asked.none() {
		return s.Store.PutSettings(ctx, project, p, state.AnyRevision)
	}
	for {
		there, err := s.Store.Settings(ctx, project)
		if err != nil {
			return err
		}
		if revision := there.GetRevision(); asked.match != nil && !areAny(asked.match, revision) ||
			areAny(asked.noneMatch, revision) {
			return settingsConditionFailed(there.GetRevision())
		}
		// Who is slower than somebody else asks again whether the condition holds.
		if err := s.Store.PutSettings(ctx, project, p, there.GetRevision()); problem.KindOf(err) != problem.Conflict {
			return err
		}
	}
}

// areAny tells whether settings are those of a tag. Those that were never set have a tag of their own, and are not "*".
func areAny(tags []string, revision int64) bool {
	return slices.Contains(tags, etag(revision)) || matchesAny(tags, revision)
}

func settingsConditionFailed(revision int64) error {
	if revision == state.NoRevision {
		return problem.New(problem.Conflict, "the project has set no settings yet, so they have the ETag %s, which the "+
			"request's condition (If-Match or If-None-Match) excludes", etag(revision))
	}
	return problem.New(problem.Conflict, "the settings have the ETag %s, which the request's condition (If-Match or "+
		"If-None-Match) excludes: get them again, then decide", etag(revision))
}

func respondSettings(c echo.Context, p *pb.ProjectSettings) error {
	header := c.Response().Header()
	header.Set("ETag", etag(p.GetRevision()))
	return c.JSON(http.StatusOK, settingsOf(p))
}

// change is one element of the history.
type change struct {
	ETag     string       `json:"etag"`
	Changed  string       `json:"changed"`
	By       string       `json:"by"`
	Settings settingsBody `json:"settings"`
}

func (s *service) settingsHistory(c echo.Context) error {
	all, err := s.Store.SettingsHistory(c.Request().Context(), c.Param("project"))
	if err != nil {
		return err
	}
	changes := make([]change, 0, len(all))
	for _, p := range all {
		changes = append(changes, change{
			ETag: etag(p.GetRevision()), Changed: timestamp(time.UnixMilli(p.GetChanged())),
			By: p.GetChangedBy(), Settings: settingsOf(p),
		})
	}
	return c.JSON(http.StatusOK, map[string][]change{"changes": changes})
}
