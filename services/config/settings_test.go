package config

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

func startAsOwner(t *testing.T) *studio {
	t.Helper()
	s := start(t)
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "olga", Project: "demo", Role: "owner"})
	return s
}

func (s *studio) putSettings(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return s.do(t, http.MethodPut, "/settings", body, header...)
}

func (s *studio) settings(t *testing.T, header ...string) reply {
	t.Helper()
	return s.do(t, http.MethodGet, "/settings", "", header...)
}

// tiered are settings with a rating with tiers.
func tiered(tiers string) string {
	return `{"ratings":{"a":{"model":"glicko2","tiers":[` + tiers + `]}}}`
}

const believed = `{"tickets":{"perPlayer":{"limit":2,"whenReached":"replace"},"listed":true,"endsTold":true,"refuseUnserved":true,"silence":{"seconds":30}},
	"acceptance":{"pause":{"seconds":30,"maxSeconds":900}},
	"standing":{"games":true,"left":true,"recent":5,"numbers":{"trust":{"start":1,"ticket":"least"}}},
	"ratings":{"elo":{"model":"plackettLuce","mean":25,"deviation":8,"beta":4,"tau":0.1,"queues":["ranked"],"start":"mmr",
		"season":{"name":"s1","keep":0.5},"provisional":4,"below":2,
		"tiers":[{"name":"silver","from":-5},{"name":"gold","from":20}],"public":true}},
	"attributes":{"skill":{"setBy":"claim","claim":"game.skill"},"region":{"setBy":"service"},
	"mood":{"setBy":"client"},"latency-eu":{"setBy":"beacon","region":"eu-west"}},
	"properties":{"latency":{"setBy":"beacon"},"roles":{"setBy":"claim","claim":"game.roles"},
		"players":{"setBy":"service"},"mode":{"setBy":"client"},
	"*":{"setBy":"service"}}}`

func TestLifeOfSettings(t *testing.T) {
	s := startAsOwner(t)
	none := s.settings(t)
	if tag := none.expect(t, 200); tag != `"0"` || strings.TrimSpace(none.body) != "{}" {
		t.Errorf("a project without settings has %s %s", tag, none.body)
	}
	put := s.putSettings(t, believed)
	tag := put.expect(t, 200)
	same(t, put.body, believed)
	got := s.settings(t)
	if got.expect(t, 200) != tag || got.body != put.body || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("GET answers %v %s, PUT answered %s %s", got.header, got.body, tag, put.body)
	}
	again := s.putSettings(t, got.body)
	if again.expect(t, 200) == tag || again.body != got.body {
		t.Errorf("put back: %v %s", again.header, again.body)
	}
	s.putSettings(t, `{"ATTRIBUTES":null}`).expect(t, 200)
	same(t, s.settings(t).body, `{}`)

	var history struct {
		Changes []struct {
			ETag, Changed, By string
			Settings          json.RawMessage
		}
	}
	r := s.do(t, http.MethodGet, "/settings/history", "")
	r.expect(t, 200)
	must(t, json.Unmarshal([]byte(r.body), &history))
	if len(history.Changes) != 3 || history.Changes[2].ETag != tag || history.Changes[2].By != "olga" ||
		!strings.HasSuffix(history.Changes[2].Changed, "Z") {
		t.Fatalf("the history is %s", r.body)
	}
	same(t, string(history.Changes[0].Settings), `{}`)
	same(t, string(history.Changes[1].Settings), believed)
}

func TestSettingsNeedAnOwner(t *testing.T) {
	s := start(t)
	s.putSettings(t, believed).problem(t, 403, "Owner") // a Manager
	s.settings(t).expect(t, 200)
	s.do(t, http.MethodGet, "/settings/history", "").expect(t, 200)
	s.token = s.mint(t, issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "demo"})
	s.settings(t).problem(t, 403, "player")
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "x", Project: "other", Role: "Owner"})
	s.putSettings(t, believed).problem(t, 403, "project")
}

func TestConditionsOfSettings(t *testing.T) {
	s := startAsOwner(t)
	s.putSettings(t, believed, "If-Match", "*").problem(t, 409, "no settings yet")
	s.putSettings(t, believed, "If-Match", `"5"`).problem(t, 409, "no settings yet")
	s.settings(t, "If-None-Match", `"0"`).expect(t, 304)
	s.putSettings(t, believed, "If-None-Match", `"0"`).problem(t, 409, "no settings yet")
	s.putSettings(t, `{}`, "If-Match", `"0"`).expect(t, 200)
	s.putSettings(t, `{}`, "If-Match", `"0"`).problem(t, 409, "ETag")
	_, err := s.store.RemoveProject(t.Context(), "demo")
	must(t, err)
	tag := s.putSettings(t, believed, "If-None-Match", "*").expect(t, 200)
	s.putSettings(t, believed, "If-None-Match", "*").problem(t, 409, tag)
	s.settings(t, "If-None-Match", tag).expect(t, 304)
	s.settings(t, "If-Match", `"5"`).problem(t, 409, tag)
	next := s.putSettings(t, `{}`, "If-Match", tag).expect(t, 200)
	s.putSettings(t, believed, "If-Match", tag).problem(t, 409, next)
	s.putSettings(t, believed, "If-Match", "5").problem(t, 400, "If-Match")
	same(t, s.settings(t).body, `{}`)

	// Of many that read the same settings, one replaces them.
	done := make(chan int, 8)
	for range cap(done) {
		go func() { done <- s.putSettings(t, believed, "If-Match", next).status }()
	}
	var statuses []int
	for range cap(done) {
		statuses = append(statuses, <-done)
	}
	slices.Sort(statuses)
	if want := []int{200, 409, 409, 409, 409, 409, 409, 409}; !slices.Equal(statuses, want) {
		t.Errorf("the statuses are %v", statuses)
	}
}

// refusedSettings are bad settings, with the first fault as "code path".
var refusedSettings = map[string]string{
	`{"webhooks":` + `[]` + `}`: "wrongType webhooks",
	`{"webhooks":` + `{"Back End":{"url":"https://a.example","events":["*"]}}` + `}`:               "badWebhook webhooks",
	`{"webhooks":` + `{"a":{"events":["*"]}}` + `}`:                                                "badWebhook webhooks.a.url: required",
	`{"webhooks":` + webhookFor("http://a.example", `["*"]`, "") + `}`:                             "badWebhook webhooks.a.url: an https URL",
	`{"webhooks":` + webhookFor("https:///x", `["*"]`, "") + `}`:                                   "badWebhook webhooks.a.url: an https URL",
	`{"webhooks":` + webhookFor("file:///etc/passwd", `["*"]`, "") + `}`:                           "badWebhook webhooks.a.url: an https URL",
	`{"webhooks":` + webhookFor("https://u:p@a.example", `["*"]`, "") + `}`:                        "badWebhook webhooks.a.url: neither credentials",
	`{"webhooks":` + webhookFor("https://a.example/#x", `["*"]`, "") + `}`:                         "badWebhook webhooks.a.url: neither credentials",
	`{"webhooks":` + webhookFor("https://a.example:22", `["*"]`, "") + `}`:                         "badWebhook webhooks.a.url: the port",
	`{"webhooks":` + webhookFor("https://a.example/"+strings.Repeat("x", 1024), `["*"]`, "") + `}`: "badWebhook webhooks.a.url: the URL has",
	`{"webhooks":` + webhookFor("https://a.example", `[]`, "") + `}`:                               "badWebhook webhooks.a.events: required",
	`{"webhooks":` + webhookFor("https://a.example", `["assigned","exploded"]`, "") + `}`:          "badWebhook webhooks.a.events[1]: a kind",
	`{"webhooks":` + webhookFor("https://a.example", `["*"]`, "") + `}`:                            "badWebhook webhooks.a.secret: whsec_",
	`{"webhooks":` + webhookFor("https://a.example", `["*"]`, mask) + `}`:                          "badWebhook webhooks.a.secret: whsec_",
	`{"webhooks":` + webhookFor("https://a.example", `["*"]`, whsec(23, "a")) + `}`:                "badWebhook webhooks.a.secret: whsec_",
	`{"webhooks":` + webhookFor("https://a.example", `["*"]`, whsec(65, "a")) + `}`:                "badWebhook webhooks.a.secret: whsec_",
	`{"webhooks":` + webhookFor("https://a.example", `["*"]`, "whsec_?") + `}`:                     "badWebhook webhooks.a.secret: whsec_",
	`{"webhooks":` + webhookFor("nats:", `["*"]`, whsec(24, "a")) + `}`:                            "badWebhook webhooks.a.secret: not with nats:",
	`{"webhooks":` + `{` + repeat(9, `"a#":{"url":"nats:","events":["*"]}`) + `}` + `}`:            "badWebhook webhooks: 9 webhooks",
	`null`:                                                        "wrongType the body",
	`[]`:                                                          "wrongType the body",
	`{"tickets":1}`:                                               "wrongType tickets",
	`{"tickets":{"perPlayer":{}}}`:                                "badTicketRule tickets.perPlayer.limit",
	`{"tickets":{"perPlayer":3}}`:                                 "wrongType tickets.perPlayer",
	`{"tickets":{"limit":3}}`:                                     "unknownMember tickets.limit",
	`{"tickets":{"listed":1}}`:                                    "wrongType tickets.listed",
	`{"tickets":{"endsTold":"yes"}}`:                              "wrongType tickets.endsTold",
	`{"tickets":{"refuseUnserved":1}}`:                            "wrongType tickets.refuseUnserved",
	`{"tickets":{"silence":30}}`:                                  "wrongType tickets.silence",
	`{"tickets":{"silence":{}}}`:                                  "badTicketRule tickets.silence.seconds",
	`{"tickets":{"silence":{"seconds":19}}}`:                      "badTicketRule tickets.silence.seconds",
	`{"tickets":{"silence":{"seconds":301}}}`:                     "badTicketRule tickets.silence.seconds",
	`{"tickets":{"silence":{"seconds":"30"}}}`:                    "wrongType tickets.silence.seconds",
	`{"tickets":{"perPlayer":{"limit":0}}}`:                       "badTicketRule tickets.perPlayer.limit",
	`{"tickets":{"perPlayer":{"limit":17}}}`:                      "badTicketRule tickets.perPlayer.limit",
	`{"tickets":{"perPlayer":{"limit":1.5}}}`:                     "wrongType tickets.perPlayer.limit",
	`{"ratings":{"a b":{"model":"glicko2"}}}`:                     "badRating ratings.a b",
	`{"ratings":{` + repeat(5, `"a#":{"model":"glicko2"}`) + `}}`: "tooManyRatings ratings: 5 ratings",
	`{"ratings":{"a":{}}}`:                                        "badRating ratings.a.model",
	`{"ratings":{"a":{"model":"elo"}}}`:                           "badRating ratings.a",
	`{"ratings":{"a":{"model":"glicko2","beta":1}}}`:              "badRating ratings.a",
	`{"ratings":{"a":{"model":"glicko2","queues":[]}}}`:           "badRating ratings.a.queues",
	`{"ratings":{"a":{"model":"glicko2","below":11}}}`:            "badRating ratings.a.below",
	`{"ratings":{"a":{"model":"glicko2","public":1}}}`:            "wrongType ratings.a.public",
	tiered(`{"name":"x"}`):                                        "badRating ratings.a.tiers[0]: name and from",
	tiered(`{"name":"","from":1}`):                                "badRating ratings.a.tiers[0].name",
	tiered(`{"name":"a\u0007","from":1}`):                         "badRating ratings.a.tiers[0].name",
	tiered(`{"name":"` + strings.Repeat("x", 65) + `","from":1}`): "badRating ratings.a.tiers[0].name",
	tiered(`{"name":"x","from":1},{"name":"x","from":2}`):         "badRating ratings.a.tiers[1].name",
	tiered(`{"name":"x","from":1},{"name":"y","from":1}`):         "badRating ratings.a.tiers[1].from",
	tiered(`{"name":"x","from":1e10}`):                            "badRating ratings.a.tiers[0].from",
	tiered(repeat(33, `{"name":"#","from":#}`)):                   "badRating ratings.a.tiers: 33 tiers",
	`{"ratings":{"a":{"model":"glicko2"}},"attributes":{"a.sigma":{"setBy":"service"}}}`: "badRating ratings.a",
	`{"standing":{"recent":17}}`:                                            "badStanding standing.recent: 1 to 16",
	`{"standing":{"recent":0}}`:                                             "badStanding standing.recent",
	`{"standing":{"games":1}}`:                                              "wrongType standing.games",
	`{"standing":{"trust":1}}`:                                              "unknownMember standing.trust",
	`{"standing":{"numbers":{"a b":{}}}}`:                                   "badStanding standing.numbers.a b",
	`{"standing":{"numbers":{"created":{}}}}`:                               "badStanding standing.numbers.created",
	`{"standing":{"numbers":{"a":{"start":1e16}}}}`:                         "badStanding standing.numbers.a.start",
	`{"standing":{"numbers":{"a":{"ticket":"sum"}}}}`:                       "badStanding standing.numbers.a.ticket",
	`{"standing":{"numbers":{` + repeat(9, `"a#":{}`) + `}}}`:               "badStanding standing.numbers: 9 numbers",
	`{"standing":{"games":true,"numbers":{"games":{}}}}`:                    "badStanding standing.numbers.games",
	`{"standing":{"left":true},"ratings":{"left":{"model":"glicko2"}}}`:     "badStanding standing.left: the attribute",
	`{"standing":{"games":true},"attributes":{"games":{"setBy":"client"}}}`: "badStanding standing.games: the attribute",
	`{"standing":{"numbers":{"a":{}}},"attributes":{"a":{"setBy":"claim","claim":"a"}}}`: "badStanding " +
		"standing.numbers.a: the attribute",
	`{"standing":{"recent":1},"properties":{"recent":{"setBy":"service"}}}`: "badStanding standing.recent",
	`{"acceptance":{"pause":{"seconds":1,"maxSeconds":2,"leavers":1}}}`:     "wrongType acceptance.pause.leavers",
	`{"tickets":{"running":"x"}}`:                                           "badTicketRule tickets.running",
	`{"tickets":{"perPlayer":{"limit":1,"whenReached":"end"}}}`:             "badTicketRule tickets.perPlayer.whenReached",
	`{"acceptance":{"pause":{}}}`:                                           "badPause acceptance.pause.seconds",
	`{"acceptance":{"pause":30}}`:                                           "wrongType acceptance.pause",
	`{"acceptance":{"seconds":30}}`:                                         "unknownMember acceptance.seconds",
	`{"acceptance":{"pause":{"seconds":30}}}`:                               "badPause acceptance.pause.maxSeconds",
	`{"acceptance":{"pause":{"seconds":0,"maxSeconds":9}}}`:                 "badPause acceptance.pause.seconds",
	`{"acceptance":{"pause":{"seconds":1.5,"maxSeconds":9}}}`:               "wrongType acceptance.pause.seconds",
	`{"acceptance":{"pause":{"seconds":9,"maxSeconds":8}}}`:                 "badPause acceptance.pause.maxSeconds",
	`{"acceptance":{"pause":{"seconds":1,"maxSeconds":86401}}}`:             "badPause acceptance.pause.maxSeconds",
	`{"tickets_":{}}`:   "unknownMember tickets_",
	`{"attributes":[]}`: "wrongType attributes",
	`{"attributes":{"a":{"setBy":"client"},"a":{"setBy":"client"}}}`:         "duplicateMember attributes.a",
	`{"attributes":{},"Attributes":{}}`:                                      "duplicateMember attributes",
	ruleFor("", `{"setBy":"client"}`):                                        `badAttributeRule attributes.""`,
	ruleFor("created", `{"setBy":"client"}`):                                 "badAttributeRule attributes.created",
	ruleFor(strings.Repeat("a", 129), `{"setBy":"client"}`):                  "badAttributeRule attributes.",
	ruleFor("a", `{}`):                                                       "badAttributeRule attributes.a.setBy",
	ruleFor("a", `"client"`):                                                 "wrongType attributes.a",
	ruleFor("a", `{"setBy":"Client"}`):                                       "badAttributeRule attributes.a.setBy",
	ruleFor("a", `{"setBy":1}`):                                              "wrongType attributes.a.setBy",
	ruleFor("a", `{"setBy":"claim"}`):                                        "badAttributeRule attributes.a.claim",
	ruleFor("a", `{"setBy":"claim","claim":""}`):                             "badAttributeRule attributes.a.claim",
	ruleFor("a", `{"setBy":"claim","claim":"a\nb"}`):                         "badAttributeRule attributes.a.claim",
	ruleFor("a", `{"setBy":"claim","claim":5}`):                              "wrongType attributes.a.claim",
	ruleFor("a", `{"setBy":"service","claim":"x"}`):                          "badAttributeRule attributes.a.claim",
	ruleFor("a", `{"setBy":"beacon"}`):                                       "badAttributeRule attributes.a.region",
	ruleFor("a", `{"setBy":"beacon","region":"e u"}`):                        "badAttributeRule attributes.a.region",
	ruleFor("a", `{"setBy":"beacon","region":5}`):                            "wrongType attributes.a.region",
	ruleFor("a", `{"setBy":"beacon","region":"eu","claim":"x"}`):             "badAttributeRule attributes.a.claim",
	ruleFor("a", `{"setBy":"service","region":"eu"}`):                        "badAttributeRule attributes.a.region",
	ruleFor("*", `{"setBy":"beacon","region":"eu"}`):                         "badAttributeRule attributes.*.setBy",
	`{"properties":{"a":{"setBy":"beacon","region":"eu"}}}`:                  "unknownMember properties.a.region",
	ruleFor("a", `{"setBy":"client","default":1}`):                           "unknownMember attributes.a.default",
	ruleFor("a", `{"setBy":"claim","claim":"`+strings.Repeat("c", 257)+`"}`): "badAttributeRule attributes.a.claim",
	`{"attributes":{` + repeat(257, `"a#":{"setBy":"client"}`) + `}}`:        "tooManyAttributeRules attributes",

	`{"properties":[]}`: "wrongType properties",
	`{"properties":{"a":{"setBy":"client"},"a":{"setBy":"client"}}}`:  "duplicateMember properties.a",
	propertyRule("", `{"setBy":"client"}`):                            `badPropertyRule properties.""`,
	propertyRule(strings.Repeat("a", 129), `{"setBy":"client"}`):      "badPropertyRule properties.",
	propertyRule("a", `{}`):                                           "badPropertyRule properties.a.setBy",
	propertyRule("a", `"client"`):                                     "wrongType properties.a",
	propertyRule("a", `{"setBy":"Client"}`):                           "badPropertyRule properties.a.setBy",
	propertyRule("a", `{"setBy":"claim"}`):                            "badPropertyRule properties.a.claim",
	propertyRule("a", `{"setBy":"claim","claim":"a\nb"}`):             "badPropertyRule properties.a.claim",
	propertyRule("a", `{"setBy":"service","claim":"x"}`):              "badPropertyRule properties.a.claim",
	propertyRule("a", `{"setBy":"client","default":1}`):               "unknownMember properties.a.default",
	propertyRule("*", `{"setBy":"claim","claim":"x"}`):                "badPropertyRule properties.*.setBy",
	ruleFor("*", `{"setBy":"claim","claim":"x"}`):                     "badAttributeRule attributes.*.setBy",
	`{"properties":{` + repeat(257, `"a#":{"setBy":"client"}`) + `}}`: "tooManyPropertyRules properties",
}

// propertyRule are settings with a rule for one property.
func propertyRule(name, rule string) string { return fmt.Sprintf(`{"properties":{%q:%s}}`, name, rule) }

// ruleFor are settings with a rule for one attribute.
func ruleFor(name, rule string) string { return fmt.Sprintf(`{"attributes":{%q:%s}}`, name, rule) }

func TestRefusedSettings(t *testing.T) {
	s := startAsOwner(t)
	for body, want := range refusedSettings {
		r := s.putSettings(t, body)
		r.expect(t, 400)
		var list []struct{ ResultCode, Message string }
		must(t, json.Unmarshal([]byte(r.body), &list))
		if len(list) == 0 || !strings.HasPrefix(list[0].ResultCode+" "+list[0].Message, want) {
			t.Errorf("%.80s: %.200s, want %s", body, r.body, want)
		}
	}
	s.putSettings(t, `{`).problem(t, 400, "not JSON")
	s.putSettings(t, `{"attributes":{`+repeat(256, `"a#":{"setBy":"client"}`)+`}}`).expect(t, 200)
	s.putSettings(t, `{"properties":{`+repeat(256, `"a#":{"setBy":"client"}`)+`}}`).expect(t, 200)
	s.putSettings(t, propertyRule("created", `{"setBy":"service"}`)).expect(t, 200) // only attributes may not be named so
}

// All problems of a document are listed.
func TestAllProblemsOfRules(t *testing.T) {
	s := startAsOwner(t)
	r := s.putSettings(t, `{"attributes":{"a":{"setBy":"x"}},"properties":{"a":{"setBy":"x"},"b":{},"*":{"setBy":"claim"}}}`)
	r.expect(t, 400)
	var list []struct{ ResultCode, Message string }
	must(t, json.Unmarshal([]byte(r.body), &list))
	var got []string
	for _, one := range list {
		path, _, _ := strings.Cut(one.Message, ":")
		got = append(got, one.ResultCode+" "+path)
	}
	slices.Sort(got)
	want := []string{"badAttributeRule attributes.a.setBy", "badPropertyRule properties.*.claim",
		"badPropertyRule properties.*.setBy", "badPropertyRule properties.a.setBy", "badPropertyRule properties.b.setBy"}
	if !slices.Equal(got, want) {
		t.Errorf("the problems are %q, want %q", got, want)
	}
}
