package config

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/state"
)

// settingsOf is what PUT accepts, and stores the same.
func settingsOf(p *pb.ProjectSettings) response.ProjectSettings {
	var b response.ProjectSettings
	if t := p.GetTickets(); t != nil {
		b.Tickets = &response.TicketRules{Listed: t.GetListed(), EndsTold: t.GetEndsTold(),
			RefuseUnserved: t.GetRefuseUnserved(), Running: t.GetRunning()}
		if t.GetSilence() > 0 {
			b.Tickets.Silence = &response.Silence{Seconds: int(t.GetSilence() / 1000)}
		}
		if t.GetPlayerLimit() > 0 {
			b.Tickets.PerPlayer = &response.PerPlayer{Limit: int(t.GetPlayerLimit()), WhenReached: t.GetWhenReached()}
		}
	}
	if a := p.GetAcceptance(); a != nil {
		b.Acceptance = new(response.AcceptanceRules)
		if a.GetFirstPause() > 0 {
			b.Acceptance.Pause = &response.Pause{Seconds: int(a.GetFirstPause() / 1000),
				MaxSeconds: int(a.GetLongestPause() / 1000), Leavers: a.GetLeavers()}
		}
	}
	if p.GetSupportProperties() {
		b.Support = &response.SupportRules{Properties: true}
	}
	for _, rule := range p.GetRatings() {
		set(&b.Ratings, rule.GetName(), ratingOf(rule))
	}
	if p.GetStanding() != nil {
		b.Standing = standingOf(p.GetStanding())
	}
	for _, rule := range p.GetAttributes() {
		if rule.GetSetBy() == definition.ByRating || rule.GetSetBy() == definition.ByStanding {
			continue // they say it
		}
		one := response.AttributeRule{SetBy: rule.GetSetBy(), Claim: rule.GetClaim()}
		if one.SetBy == definition.ByBeacon {
			one.Claim, one.Region = "", one.Claim
		}
		set(&b.Attributes, rule.GetName(), one)
	}
	for _, rule := range p.GetProperties() {
		if rule.GetSetBy() == definition.ByStanding {
			continue
		}
		set(&b.Properties, rule.GetName(), response.PropertyRule{SetBy: rule.GetSetBy(), Claim: rule.GetClaim()})
	}
	for _, w := range p.GetWebhooks() {
		one := response.Webhook{URL: w.GetUrl(), Events: w.GetEvents()}
		if len(w.GetSecrets()) > 0 {
			one.Secret = mask
		}
		set(&b.Webhooks, w.GetName(), one)
	}
	return b
}

// set sets a member of an object that is absent without members.
func set[V any](of *map[string]V, name string, value V) {
	if *of == nil {
		*of = map[string]V{}
	}
	(*of)[name] = value
}

func standingOf(rules *pb.StandingRules) *response.StandingRules {
	b := &response.StandingRules{Games: rules.GetGames(), Left: rules.GetLeft(), Recent: int(rules.GetRecent())}
	for _, one := range rules.GetNumbers() {
		set(&b.Numbers, one.GetName(), response.StandingNumber{Start: new(one.GetStart()), Ticket: one.GetTicket()})
	}
	return b
}

// ratingOf is a rating with all of its parameters, but those that are 0 without being said.
func ratingOf(rule *pb.RatingRule) response.RatingRule {
	some := func(n float64) *float64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	r := response.RatingRule{Model: rule.GetModel(), Mean: new(rule.GetMean()), Deviation: new(rule.GetDeviation()),
		Beta: some(rule.GetBeta()), Tau: new(rule.GetTau()), Growth: some(rule.GetGrowth()), Draw: some(rule.GetDraw()),
		Volatility: some(rule.GetVolatility()), Margin: rule.Margin, Queues: rule.GetQueues(), Start: rule.GetStart(),
		Provisional: some(rule.GetProvisional()), Below: rule.Below, Public: rule.GetPublic()}
	for _, t := range rule.GetTiers() {
		r.Tiers = append(r.Tiers, response.RatingTier{Name: t.GetName(), From: t.GetFrom()})
	}
	if rule.GetModel() == rating.ThurstoneMosteller || rule.GetModel() == rating.TrueSkill {
		r.Draw = new(rule.GetDraw()) // 0 is not the default
	}
	if rule.GetSeason() != "" {
		r.Season = &response.RatingSeason{Name: rule.GetSeason(), Keep: new(rule.GetKeep())}
	}
	return r
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
	if err := s.storeSettings(c.Request().Context(), c.Param("project"), p, r.Secrets, asked); err != nil {
		return respondRefused(c, err)
	}
	if s.WebhooksChanged != nil {
		s.WebhooksChanged()
	}
	return respondSettings(c, p)
}

// storeSettings replaces the settings if the stored ones are what the condition asks for. secrets are the new secrets
// of webhooks, by their names.
func (s *service) storeSettings(ctx context.Context, project string, p *pb.ProjectSettings,
	secrets map[string]string, asked condition) error {
	if asked.none() && len(p.GetWebhooks()) == 0 {
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
		if err := s.sealWebhooks(project, p, secrets, there); err != nil {
			return err
		}
		// When another request was faster, check again whether the condition holds.
		if err := s.Store.PutSettings(ctx, project, p, there.GetRevision()); problem.KindOf(err) != problem.Conflict {
			return err
		}
	}
}

// areAny reports whether settings have one of the tags. Settings that were never set have a tag of their own, and are
// not "*".
func areAny(tags []string, revision int64) bool {
	return slices.Contains(tags, etag(revision)) || matchesAny(tags, revision)
}

func settingsConditionFailed(revision int64) error {
	if revision == state.NoRevision {
		return problem.New(problem.EtagMismatch, "the project has set no settings yet, so they have the ETag %s, which the "+
			"request's condition (If-Match or If-None-Match) excludes", etag(revision))
	}
	return problem.New(problem.EtagMismatch, "the settings have the ETag %s, which the request's condition (If-Match or "+
		"If-None-Match) excludes: get them again, then decide", etag(revision))
}

func respondSettings(c echo.Context, p *pb.ProjectSettings) error {
	c.Response().Header().Set("ETag", etag(p.GetRevision()))
	return c.JSON(http.StatusOK, settingsOf(p))
}

func (s *service) settingsHistory(c echo.Context) error {
	all, err := s.Store.SettingsHistory(c.Request().Context(), c.Param("project"))
	if err != nil {
		return err
	}
	changes := make([]response.SettingsChange, 0, len(all))
	for _, p := range all {
		changes = append(changes, response.SettingsChange{
			ETag: etag(p.GetRevision()), Changed: timestamp(time.UnixMilli(p.GetChanged())),
			By: p.GetChangedBy(), Settings: settingsOf(p),
		})
	}
	return c.JSON(http.StatusOK, response.SettingsHistory{Changes: changes})
}
