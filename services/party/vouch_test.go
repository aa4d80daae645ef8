package party_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
)

// vouching is a world whose project takes the skill from the claim game.skill. pass lets time pass, in which no member
// is silent.
func vouching(t *testing.T) (w *world, pass func(time.Duration)) {
	t.Helper()
	var passed atomic.Int64
	w = startAt(t, func() time.Time { return time.Now().Add(time.Duration(passed.Load())) },
		func(o *party.Options) { o.Settings.Silence = 24 * time.Hour })
	w.takesSkillFrom("game.skill")
	return w, func(d time.Duration) { passed.Add(int64(d)) }
}

// takesSkillFrom changes the settings: a claim of the player's token sets the skill.
func (w *world) takesSkillFrom(claim string) {
	w.t.Helper()
	w.set(&pb.SetterRule{Name: "skill", SetBy: definition.ByClaim, Claim: claim})
}

func (w *world) set(rules ...*pb.SetterRule) {
	w.t.Helper()
	must(w.t, w.store.PutSettings(w.t.Context(), "demo", &pb.ProjectSettings{Attributes: rules}, state.AnyRevision))
}

// skilled is the claims of a player whose token is good for a time.
func skilled(player string, skill float64, ttl time.Duration) issuer.Claims {
	return issuer.Claims{Kind: auth.Player, Subject: player, TTL: ttl, Further: map[string]any{"game.skill": skill}}
}

// answers checks the answer to a request.
func (w *world) answers(c issuer.Claims, method, path, body string, want int, detail string) shown {
	w.t.Helper()
	status, p := w.with(c, method, path, body)
	if status != want || !strings.Contains(p.Detail, detail) {
		w.t.Errorf("%s: %s %s %s: %d %q, want %d %q", c.Subject, method, path, body, status, p.Detail, want, detail)
	}
	return p
}

// ticketed checks the attributes of each player of the party's ticket.
func (w *world) ticketed(p shown, want map[string]map[string]float64) {
	w.t.Helper()
	if p.Search == nil {
		w.t.Fatal("the party does not search")
	}
	stored, err := w.store.Ticket(w.t.Context(), "demo", p.Search.Ticket)
	must(w.t, err)
	got := map[string]map[string]float64{}
	for _, one := range stored.Body.GetPlayers() {
		got[one.GetId()] = fields.Attributes(one.GetAttributeNames(), one.GetAttributeValues())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Error(diff)
	}
}

// Each member has what its own token says, and another player cannot set it.
func TestTokensVouchForMembers(t *testing.T) {
	w, _ := vouching(t)
	ada, bob := skilled("ada", 1200, time.Hour), skilled("bob", 900, time.Hour)
	const refused = "attributes.skill: a claim of the player's token sets this attribute"
	w.answers(ada, "POST", "", `{"attributes":{"skill":9999}}`, 403, refused)
	p := w.answers(ada, "POST", "", `{"attributes":{"mood":1}}`, 201, "")
	join := func(attributes string) string { return `{"code":"` + p.Code + `","attributes":{` + attributes + `}}` }
	w.answers(bob, "POST", "/members", join(`"skill":9999`), 403, refused)
	w.answers(bob, "POST", "/members", join(`"skill":900`), 403, refused)
	text := issuer.Claims{Kind: auth.Player, Subject: "bob", Further: map[string]any{"game": 1}}
	w.answers(text, "POST", "/members", join(``), 403, "attributes.skill: the claim game.skill of the token is not a number")
	joined := w.answers(bob, "POST", "/members", join(`"mood":2`), 200, "")
	if diff := cmp.Diff(map[string]float64{"skill": 900, "mood": 2}, joined.Members[1].Attributes); diff != "" {
		t.Errorf("bob reads of himself: %s", diff)
	}
	w.answers(bob, "PUT", "/"+p.ID+"/members/bob", `{"attributes":{"skill":9999}}`, 403, refused)
	w.answers(ada, "PUT", "/"+p.ID+"/search", `{"attributes":{"skill":9999}}`, 403, refused)
	searches := w.answers(ada, "PUT", "/"+p.ID+"/search", `{}`, 200, "")
	w.ticketed(searches, map[string]map[string]float64{
		"ada": {"skill": 1200, "mood": 1}, "bob": {"skill": 900, "mood": 2}})
}

// Pools that filter by an attribute of a claim see the party: its ticket has the leader's.
func TestTicketHasWhatTheLeadersTokenVouchesFor(t *testing.T) {
	w, pass := vouching(t)
	ada, bob := skilled("ada", 1200, 5*time.Minute), skilled("bob", 900, time.Hour)
	p := w.answers(ada, "POST", "", `{"attributes":{"mood":1}}`, 201, "")
	w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`"}`, 200, "")
	search := "/" + p.ID + "/search"
	has := func(p shown, want map[string]float64) {
		t.Helper()
		stored, err := w.store.Ticket(t.Context(), "demo", p.Search.Ticket)
		must(t, err)
		got := fields.Attributes(stored.Body.GetAttributeNames(), stored.Body.GetAttributeValues())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	has(w.answers(ada, "PUT", search, `{"attributes":{"map":3}}`, 200, ""), map[string]float64{"skill": 1200, "map": 3})
	w.answers(ada, "DELETE", search, "", 200, "")
	// A game service says which skill the party searches with.
	lobby := issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct}
	status, searches := w.with(lobby, "PUT", search, `{"attributes":{"skill":1050}}`, auth.OnBehalfOf, "ada")
	if status != 200 {
		t.Fatalf("the lobby searches for ada: %d %s", status, searches.Detail)
	}
	has(searches, map[string]float64{"skill": 1050})
	w.answers(ada, "DELETE", search, "", 200, "")
	// The ticket takes no more attributes than others.
	var many strings.Builder
	for i := range 64 {
		fmt.Fprintf(&many, `,"a%d":1`, i)
	}
	w.answers(ada, "PUT", search, `{"attributes":{`+many.String()[1:]+`}}`, 400, "attributes: 65 of them")
	// The leader's token decides, for as long as it is valid.
	pass(10 * time.Minute)
	w.answers(ada, "PUT", search, `{}`, 409, `player "ada" must say its attributes and properties again`)
	ada.TTL = time.Hour
	w.answers(ada, "PUT", "/"+p.ID+"/leader", `{"player":"bob"}`, 200, "")
	w.answers(bob, "PUT", search, `{}`, 409, `player "ada" must say its attributes and properties again`)
	w.answers(ada, "PUT", "/"+p.ID+"/members/ada", `{}`, 200, "")
	has(w.answers(bob, "PUT", search, `{}`, 200, ""), map[string]float64{"skill": 900})
}

// A token without the claim sets no attribute, and nothing that could expire.
func TestMissingClaimSetsNothing(t *testing.T) {
	w, pass := vouching(t)
	zoe := issuer.Claims{Kind: auth.Player, Subject: "zoe", TTL: time.Minute}
	p := w.answers(zoe, "POST", "", `{"attributes":{"mood":1}}`, 201, "")
	// The rule counts all the same.
	w.answers(zoe, "PUT", "/"+p.ID+"/members/zoe", `{"attributes":{"skill":1}}`, 403, "attributes.skill")
	// A game service acts for bob without his token, so it says the skill itself.
	lobby := issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct}
	status, joined := w.with(lobby, "POST", "/members", `{"code":"`+p.Code+`","attributes":{"skill":5}}`,
		auth.OnBehalfOf, "bob")
	if status != 200 {
		t.Fatalf("the lobby joins for bob: %d %s", status, joined.Detail)
	}
	pass(time.Hour)
	searches := w.answers(zoe, "PUT", "/"+p.ID+"/search", `{}`, 200, "")
	w.ticketed(searches, map[string]map[string]float64{"zoe": {"mood": 1}, "bob": {"skill": 5}})
}

// What a token vouches for holds until it expires, for searches that begin.
func TestTokensVouchUntilTheyExpire(t *testing.T) {
	w, pass := vouching(t)
	ada, bob := skilled("ada", 1200, time.Hour), skilled("bob", 900, 5*time.Minute)
	p := w.answers(ada, "POST", "", `{}`, 201, "")
	w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`"}`, 200, "")
	pass(4 * time.Minute)
	search := "/" + p.ID + "/search"
	first := w.answers(ada, "PUT", search, `{}`, 200, "")
	pass(2 * time.Minute)
	if again := w.answers(ada, "PUT", search, `{}`, 200, ""); again.Search == nil ||
		again.Search.Ticket != first.Search.Ticket {
		t.Errorf("the search that has begun does not go on: %+v", again.Search)
	}
	w.answers(ada, "DELETE", search, "", 200, "")
	if _, refused := w.with(ada, "PUT", search, `{}`); refused.Code != "membershipOutdated" {
		t.Errorf("the code is %q", refused.Code)
	}
	const expired = ` must say its attributes and properties again: the token that vouched for them has expired`
	w.answers(ada, "PUT", search, `{}`, 409, `player "bob"`+expired)
	if now := w.answers(ada, "GET", "/"+p.ID, "", 200, ""); now.Search != nil || w.waiting() != 0 {
		t.Errorf("a refused search: %+v, %d tickets wait", now.Search, w.waiting())
	}
	// A new token alone is not enough: bob says what he has again.
	bob = skilled("bob", 950, 5*time.Minute)
	w.answers(bob, "GET", "/"+p.ID, "", 200, "")
	w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`"}`, 200, "")
	w.answers(ada, "PUT", search, `{}`, 409, `player "bob"`+expired)
	w.answers(bob, "PUT", "/"+p.ID+"/members/bob", `{}`, 200, "")
	w.ticketed(w.answers(ada, "PUT", search, `{}`, 200, ""), map[string]map[string]float64{
		"ada": {"skill": 1200}, "bob": {"skill": 950}})
	// The leader's own token counts as well.
	w.answers(ada, "DELETE", search, "", 200, "")
	pass(time.Hour)
	w.answers(bob, "PUT", "/"+p.ID+"/members/bob", `{}`, 200, "")
	w.answers(ada, "PUT", search, `{}`, 409, `player "ada"`+expired)
}

// What a member said under other settings is not believed.
func TestChangedSettingsAreHeeded(t *testing.T) {
	w, _ := vouching(t)
	w.set() // every member sets what it likes
	claims := func(player string) issuer.Claims {
		c := skilled(player, 10, time.Hour)
		c.Further["game.elo"] = 20
		return c
	}
	ada, bob := claims("ada"), claims("bob")
	p := w.answers(ada, "POST", "", `{"attributes":{"skill":9999}}`, 201, "")
	w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`"}`, 200, "")
	const changed = ` must say its attributes and properties again: the settings of the project have changed`
	search := "/" + p.ID + "/search"
	say := func(c issuer.Claims) {
		t.Helper()
		w.answers(c, "PUT", "/"+p.ID+"/members/"+c.Subject, `{}`, 200, "")
	}
	for _, step := range []struct {
		claim string
		want  float64
	}{{"game.skill", 10}, {"game.elo", 20}} {
		w.takesSkillFrom(step.claim)
		w.answers(ada, "PUT", search, `{}`, 409, `player "ada"`+changed)
		say(ada)
		w.answers(ada, "PUT", search, `{}`, 409, `player "bob"`+changed)
		say(bob)
		w.ticketed(w.answers(ada, "PUT", search, `{}`, 200, ""), map[string]map[string]float64{
			"ada": {"skill": step.want}, "bob": {"skill": step.want}})
		w.answers(ada, "DELETE", search, "", 200, "")
	}
}

// taking changes the settings: a claim of the player's token sets the roles, and only game services list players.
func (w *world) taking() {
	w.t.Helper()
	must(w.t, w.store.PutSettings(w.t.Context(), "demo", &pb.ProjectSettings{Properties: []*pb.SetterRule{
		{Name: "players", SetBy: definition.ByService},
		{Name: "roles", SetBy: definition.ByClaim, Claim: "roles"},
	}}, state.AnyRevision))
}

// property is a body that gives a property.
func property(name, text string) string {
	return fmt.Sprintf(`"properties":{%q:%q}`, name, base64.StdEncoding.EncodeToString([]byte(text)))
}

// Rules for properties count for members and the ticket of their search as those for attributes do.
func TestTokensVouchForPropertiesOfMembers(t *testing.T) {
	w, pass := vouching(t)
	can := func(player string, roles any, ttl time.Duration) issuer.Claims {
		return issuer.Claims{Kind: auth.Player, Subject: player, TTL: ttl, Further: map[string]any{"roles": roles}}
	}
	ada, bob := can("ada", []string{"tank"}, time.Hour), can("bob", nil, time.Hour)
	p := w.answers(ada, "POST", "", `{`+property("players", "[]")+`}`, 201, "")
	search, members := "/"+p.ID+"/search", "/"+p.ID+"/members/"
	w.taking()
	const again = `player "ada" must say its attributes and properties again: `
	w.answers(ada, "PUT", search, `{}`, 409, again+"the settings of the project have changed")
	for _, sets := range []string{property("players", "[]"), property("roles", "[]")} {
		name := strings.Split(sets, `"`)[3]
		w.answers(ada, "PUT", members+"ada", `{`+sets+`}`, 403, "properties."+name+": ")
		w.answers(can("eve", nil, time.Hour), "POST", "", `{`+sets+`}`, 403, "properties."+name+": ")
		w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`",`+sets+`}`, 403, "properties."+name+": ")
	}
	w.answers(ada, "PUT", members+"ada", `{`+property("mode", "m")+`}`, 200, "")
	w.answers(bob, "POST", "/members", `{"code":"`+p.Code+`"}`, 200, "")
	w.answers(ada, "PUT", search, `{`+property("players", "[]")+`}`, 403, "properties.players: a game service")
	w.answers(ada, "PUT", search, `{`+property("roles", "[]")+`}`, 403, "properties.roles: a claim")

	carries := func(p shown, want map[string]map[string][]byte) {
		t.Helper()
		stored, err := w.store.Ticket(t.Context(), "demo", p.Search.Ticket)
		must(t, err)
		got := map[string]map[string][]byte{"": stored.Body.GetProperties()}
		for _, one := range stored.Body.GetPlayers() {
			got[one.GetId()] = one.GetProperties()
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	tank, healer, mode := []byte(`["tank"]`), []byte(`["healer"]`), []byte("m")
	carries(w.answers(ada, "PUT", search, `{`+property("map", "m")+`}`, 200, ""), map[string]map[string][]byte{
		"": {"roles": tank, "map": mode}, "ada": {"roles": tank, "mode": mode}, "bob": nil})
	w.answers(ada, "DELETE", search, "", 200, "")
	// A game service says which roles the party searches with, and lists players.
	lobby := issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct}
	status, searches := w.with(lobby, "PUT", search, `{`+property("roles", `["healer"]`)+`}`, auth.OnBehalfOf, "ada")
	if status != 200 {
		t.Fatalf("the lobby searches for ada: %d %s", status, searches.Detail)
	}
	carries(searches, map[string]map[string][]byte{
		"": {"roles": healer}, "ada": {"roles": tank, "mode": mode}, "bob": nil})
	w.answers(ada, "DELETE", search, "", 200, "")
	// A member with such a property has it for as long as the token counts.
	pass(2 * time.Hour)
	ada.TTL, bob.TTL = 4*time.Hour, 4*time.Hour
	w.answers(ada, "PUT", search, `{}`, 409, again+"the token that vouched for them has expired")
	w.answers(ada, "PUT", members+"ada", `{}`, 200, "")
	carries(w.answers(ada, "PUT", search, `{}`, 200, ""), map[string]map[string][]byte{
		"": {"roles": tank}, "ada": {"roles": tank}, "bob": nil})
}

// A member that sets its values again keeps what others set, unless the settings changed who sets it.
func TestMemberKeepsWhatOthersSet(t *testing.T) {
	w, pass := vouching(t)
	rules := []*pb.SetterRule{
		{Name: "skill", SetBy: definition.ByClaim, Claim: "game.skill"},
		{Name: "rank", SetBy: definition.ByService},
	}
	set := func(more ...*pb.SetterRule) {
		t.Helper()
		must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Attributes: append(rules, more...),
			Properties: []*pb.SetterRule{{Name: definition.Others, SetBy: definition.ByService}}}, state.AnyRevision))
	}
	set()
	ada, plain := skilled("ada", 1200, time.Hour), issuer.Claims{Kind: auth.Player, Subject: "ada", TTL: 4 * time.Hour}
	lobby := issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct}
	p := w.answers(ada, "POST", "", `{"attributes":{"mood":1}}`, 201, "")
	member := "/" + p.ID + "/members/ada"
	has := func(what string, p shown, want map[string]float64, badge string) {
		t.Helper()
		if diff := cmp.Diff(want, p.Members[0].Attributes, cmpopts.EquateEmpty()); diff != "" ||
			string(p.Members[0].Properties["badge"]) != badge {
			t.Errorf("%s: %s %q", what, diff, p.Members[0].Properties)
		}
	}
	status, said := w.with(lobby, "PUT", member, `{"attributes":{"mood":1,"rank":7},`+property("badge", "gold")+`}`,
		auth.OnBehalfOf, "ada")
	if status != 200 {
		t.Fatalf("the lobby says what ada has: %d %s", status, said.Detail)
	}
	has("the lobby", said, map[string]float64{"skill": 1200, "mood": 1, "rank": 7}, "gold")
	put := func(what string, c issuer.Claims, body string, want map[string]float64, badge string) {
		t.Helper()
		has(what, w.answers(c, "PUT", member, body, 200, ""), want, badge)
	}
	put("nothing", ada, `{}`, map[string]float64{"skill": 1200, "rank": 7}, "gold")
	put("a token without the claim", plain, `{"attributes":{"mood":2}}`,
		map[string]float64{"skill": 1200, "mood": 2, "rank": 7}, "gold")
	set(&pb.SetterRule{Name: "other", SetBy: definition.ByService})
	put("other settings", plain, `{}`, map[string]float64{"skill": 1200, "rank": 7}, "gold")
	// What the claim said holds as long as its token.
	pass(2 * time.Hour)
	w.answers(plain, "PUT", "/"+p.ID+"/search", `{}`, 409, "the token that vouched for them has expired")
	put("an expired token", plain, `{}`, map[string]float64{"rank": 7}, "gold")
	// What clients set is not believed when the settings say that a service sets it.
	w.answers(plain, "PUT", member, `{"attributes":{"mood":3}}`, 200, "")
	set(&pb.SetterRule{Name: "mood", SetBy: definition.ByService})
	put("a client's", plain, `{}`, map[string]float64{"rank": 7}, "gold")
	_, said = w.with(lobby, "PUT", member, `{}`, auth.OnBehalfOf, "ada")
	has("the lobby says nothing", said, nil, "")
}
