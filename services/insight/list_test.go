package insight_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// listed is an answer with tickets that wait.
type listed struct {
	Tickets []struct {
		ID         string
		Waited     float64
		Players    []string
		Queues     []string
		Region     string
		Attributes map[string]float64
	}
	Total int
	Next  string
}

func startLists(t *testing.T) *world {
	t.Helper()
	return start(t, func(o *insight.Options) { o.Definitions = settings.Default[definition.Limits]() })
}

// serve answers lists of a function as runners do, with their index.
func (w *world) serve(t *testing.T, function string, index *pool.Index) {
	t.Helper()
	sub, err := w.bus.ServeRuns("r", "demo", function, func(_ context.Context, r *pb.RunRequest, answer bus.SendPart) {
		last := &pb.RunPart{Last: true, Stats: &pb.RunStats{Charge: 1000}}
		index.View(func(v pool.View) { last.Listed = v.In(r.GetQueue()).List(r.GetPools(), r.GetListing()) })
		_ = answer(last)
	})
	must(t, err)
	t.Cleanup(func() { <-sub.Stop() })
}

// wait creates a ticket that waits, and adds it to the index.
func (w *world) wait(t *testing.T, index *pool.Index, k *pb.Ticket) string {
	t.Helper()
	now := w.store.Now()
	k.Id = state.NewID(now)
	if w.made++; k.Created == 0 { // each a millisecond after the one before
		k.Created = now.UnixMilli() - 1000 + w.made
	}
	must(t, w.store.Creator(nil).Create(t.Context(), "demo", k))
	must(t, index.Put(k.GetId(), marshal(t, k)))
	return k.GetId()
}

func (w *world) putConfig(t *testing.T, c *pb.Config) {
	t.Helper()
	_, _, err := w.store.PutConfig(t.Context(), "demo", c, state.AnyRevision)
	must(t, err)
}

func TestListHasThoseWhoWait(t *testing.T) {
	w, index := startLists(t), pool.New()
	low, high := 0.0, 1000.0
	w.putConfig(t, &pb.Config{Id: "gone", Function: "absent"}) // no runner has its function
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel", Queue: "quick", Pools: map[string]*pb.Pool{
		"new": {Filters: []*pb.Filter{{Attribute: "skill", Min: &low, Max: &high}}}, "old": {Filters: []*pb.Filter{
			{Attribute: "skill", Min: &high}}},
	}})
	w.serve(t, "duel", index)
	skilled := func(owner string, skill float64, queues ...string) *pb.Ticket {
		return &pb.Ticket{Owner: owner, AttributeNames: []string{"skill"}, AttributeValues: []float64{skill}, Queues: queues,
			Properties: map[string][]byte{"secret": []byte("hidden")}}
	}
	ada, bob := w.wait(t, index, skilled("ada", 500, "quick")), w.wait(t, index, skilled("bob", 1500, "quick", "slow"))
	cyd := w.wait(t, index, skilled("cyd", 500))
	party := skilled("host", 500)
	party.Players, party.Created = []*pb.Player{{Id: "dan"}, {Id: "eve"}}, w.store.Now().Add(-time.Hour).UnixMilli()
	dan := w.wait(t, index, party)
	gone := w.wait(t, index, skilled("gone", 1))
	_, err := w.store.DeleteTicket(t.Context(), "demo", gone, "") // the index does not know yet
	must(t, err)
	for query, want := range map[string][]string{
		"": {dan, ada, bob, cyd}, "queue=quick": {ada, bob}, "queue=slow": {bob}, "queue=": {dan, cyd},
		"config=ranked": {ada, bob}, "config=ranked&pool=new": {ada}, "player=eve": {dan}, "player=bob": {bob},
		"minAge=600": {dan}, "maxAge=600": {ada, bob, cyd}, "minAge=600&maxAge=700": nil,
		`filters=[{"attribute":"skill","min":1000}]`:                             {bob},
		`filters=[{"count":"players","min":2}]`:                                  {dan},
		`filters=[{"attribute":"skill","max":1000},{"count":"players","max":2}]`: {ada, cyd},
	} {
		var got listed
		w.read(t, "/tickets/waiting?"+strings.ReplaceAll(query, `"`, "%22"), http.StatusOK, &got)
		var ids []string
		for _, k := range got.Tickets {
			ids = append(ids, k.ID)
		}
		expect(t, query, ids, want...)
	}
	var all []string
	for after := ""; ; {
		var got listed
		w.read(t, "/tickets/waiting?limit=2&after="+after, http.StatusOK, &got)
		for _, k := range got.Tickets {
			all = append(all, k.ID)
		}
		if after = got.Next; after == "" {
			break
		}
	}
	expect(t, "page after page", all, dan, ada, bob, cyd)
	var got listed
	w.read(t, "/tickets/waiting?player=eve", http.StatusOK, &got)
	if k := got.Tickets[0]; k.Waited < 3600 || strings.Join(k.Players, " ") != "dan eve" || k.Attributes["skill"] != 500 {
		t.Errorf("%+v", k)
	}
	got = listed{}
	w.read(t, "/tickets/waiting?limit=3&sample=true", http.StatusOK, &got)
	if got.Total != 5 || got.Next != "" || len(got.Tickets) != 2 || got.Tickets[0].ID != ada || got.Tickets[1].ID != cyd {
		t.Errorf("a sample, of which one is gone: %+v", got)
	}
	var queues response.QueueList
	w.read(t, "/queues", http.StatusOK, &queues)
	var counted []string
	for _, q := range queues.Queues {
		counted = append(counted, fmt.Sprintf("%q %v %d/%d %t", q.Queue, q.Configs, q.Tickets, q.Players, q.Oldest > 3600))
	}
	expect(t, "queues", counted, `"" [gone] 3/4 true`, `"quick" [ranked] 2/2 false`, `"slow" [] 1/1 false`)
	if text := w.text(t, "/tickets/waiting"); strings.Contains(text, "secret") || strings.Contains(text, "aGlkZGVu") {
		t.Errorf("a list shows properties: %s", text)
	}
}

// A ticket has the region of the least latency, which is not asked of properties that beacons do not set, nor told of
// properties to those who may not see them.
func TestTicketsThatWaitHaveARegion(t *testing.T) {
	w, index := startLists(t), pool.New()
	support := w.token
	w.token = w.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Manager"})
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel"})
	w.serve(t, "duel", index)
	says := func(name, text string) map[string][]byte { return map[string][]byte{name: []byte(text)} }
	party := func(all ...string) (players []*pb.Player) {
		for i, text := range all {
			players = append(players, &pb.Player{Id: fmt.Sprint(i), Properties: says("latency", text)})
		}
		return players
	}
	long := strings.Repeat("x", 65)
	tickets := []*pb.Ticket{{Properties: says("latency", `{"us":90,"eu":20}`)}, {Properties: says("latency", `["eu"]`)}, {},
		{Properties: says("latency", `{"`+long+`":1,"as":-1,"us":90}`)},
		{Players: party(`{"us":30,"eu":20}`, `{"us":40,"eu":60,"as":1}`)}, {Players: party(`{"us":30}`, `{"eu":20}`)},
		{AttributeNames: []string{"ping"}, AttributeValues: []float64{50}, Properties: says("proven", `{"eu":20}`)},
		{AttributeNames: []string{"ping"}, AttributeValues: []float64{50}},
		{Players: party(`{"us":30}`, "")}, {Properties: says("latency", `{"us":9}`), Players: party(`{"us":30,"eu":1}`, "")},
		{Properties: says("latency", `{"us":90,"eu":20`+strings.Repeat(" ", 4<<10)+"}")},
		{Properties: says("latency", `{"us":20,"eu":20,"as":20}`)}}
	for i, k := range tickets {
		k.Owner = fmt.Sprint("player-", i)
		w.wait(t, index, k)
	}
	regions := func() (all []string) {
		var got listed
		w.read(t, "/tickets/waiting", http.StatusOK, &got)
		for _, k := range got.Tickets {
			all = append(all, k.Region)
		}
		return all
	}
	expect(t, "by what players say", regions(), "eu", "", "", "us", "us", "", "", "", "", "us", "", "as")
	w.token = support
	expect(t, "to those who see no properties", regions(), make([]string, len(tickets))...)
	rules := &pb.ProjectSettings{Attributes: []*pb.SetterRule{{Name: "ping", SetBy: definition.ByBeacon, Claim: "as"}},
		Properties: []*pb.SetterRule{{Name: "proven", SetBy: definition.ByBeacon}}}
	must(t, w.store.PutSettings(t.Context(), "demo", rules, 0))
	none := make([]string, len(tickets)-8)
	proven := append([]string{"", "", "", "", "", "", "as", "as"}, none...)
	expect(t, "by attributes alone", regions(), proven...)
	rules.SupportProperties = true
	must(t, w.store.PutSettings(t.Context(), "demo", rules, state.AnyRevision))
	expect(t, "by what beacons prove", regions(), append([]string{"", "", "", "", "", "", "eu", ""}, none...)...)
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{
		Attributes: []*pb.SetterRule{{Name: "ping", SetBy: definition.ByBeacon, Claim: "as"}}}, state.AnyRevision))
	expect(t, "by attributes that beacons prove", regions(), proven...)
}

// A sample has no next one, also where the runner is an older one, which lists the oldest tickets instead.
func TestSampleHasNoNext(t *testing.T) {
	w := startLists(t)
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel"})
	sub, err := w.bus.ServeRuns("r", "demo", "duel", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		_ = answer(&pb.RunPart{Last: true, Listed: &pb.Listed{Tickets: []string{"a"}, Total: 9, More: true, LastCreated: 5}})
	})
	must(t, err)
	t.Cleanup(func() { <-sub.Stop() })
	var oldest, sample listed
	w.read(t, "/tickets/waiting", http.StatusOK, &oldest)
	w.read(t, "/tickets/waiting?sample=true", http.StatusOK, &sample)
	if oldest.Next != "5.a" || sample.Total != 9 || sample.Next != "" {
		t.Errorf("%+v, %+v", oldest, sample)
	}
}

// Players invent names of queues: the ones that configs serve are told in any case.
func TestInventedQueuesHideNoOther(t *testing.T) {
	w, index := startLists(t), pool.New()
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel", Queue: "zealous"})
	w.putConfig(t, &pb.Config{Id: "empty", Function: "duel", Queue: "zero"})
	w.serve(t, "duel", index)
	w.wait(t, index, &pb.Ticket{Owner: "ada", Queues: []string{"zealous"}})
	for n := range pool.MostQueues {
		for range 2 {
			w.wait(t, index, &pb.Ticket{Owner: "eve", Queues: []string{fmt.Sprintf("a-%d", n)}})
		}
	}
	w.wait(t, index, &pb.Ticket{Owner: "bob"})
	var got response.QueueList
	w.read(t, "/queues", http.StatusOK, &got)
	served := got.Queues[len(got.Queues)-2:]
	if n := len(got.Queues); n != pool.MostQueues || served[0].Queue != "zealous" || served[0].Tickets != 1 ||
		served[1].Queue != "zero" || got.Queues[0].Queue != "" || got.Queues[0].Tickets != 1 || got.Queues[1].Tickets != 2 {
		t.Errorf("%d queues, the last %+v", n, served)
	}
}

func TestListsThatAreRefused(t *testing.T) {
	w := startLists(t)
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel"})
	for query, want := range map[string]struct {
		status int
		says   string
	}{
		"config=none":              {404, "query parameter config"},
		"config=ranked&pool=none":  {404, "query parameter pool"},
		"pool=none":                {400, "query parameter pool: give the config"},
		"config=ranked&queue=q":    {400, "give one of them"},
		"player=":                  {400, "query parameter player"},
		"limit=201":                {400, "query parameter limit: a whole number from 1 to 200"},
		"limit=x":                  {400, "query parameter limit"},
		"sample=1":                 {400, "query parameter sample"},
		"sample=true&after=1.a":    {400, "query parameter sample"},
		"after=5":                  {400, "query parameter after"},
		"after=x.y":                {400, "query parameter after"},
		"minAge=-1":                {400, "query parameter minAge"},
		"maxAge=NaN":               {400, "query parameter maxAge"},
		"minAge=5&maxAge=4":        {400, "maxAge is below minAge"},
		"filters=x":                {400, "query parameter filters: this is no JSON"},
		"filters={}":               {400, "query parameter filters: "},
		"filters=[{%22min%22:1}]":  {400, "query parameter filters[0].attribute: required"},
		"filters=[{}]&filters=[5]": {400, "given more than once"},
	} {
		var problem struct{ Detail string }
		w.read(t, "/tickets/waiting?"+query, want.status, &problem)
		if !strings.Contains(problem.Detail, want.says) {
			t.Errorf("%s: %q, want %q", query, problem.Detail, want.says)
		}
	}
	w.read(t, "/queues?a;b", http.StatusBadRequest, new(struct{}))
}

// A project without a function that runs has tickets all the same: those are what a studio asks about that begins, or
// that has given the wrong name.
func TestListWithoutARunner(t *testing.T) {
	w, unused := startLists(t), pool.New()
	var got listed
	if w.read(t, "/tickets/waiting", http.StatusOK, &got); got.Total != 0 || got.Tickets == nil {
		t.Errorf("a project in which nothing is: %+v", got)
	}
	ada := w.wait(t, unused, &pb.Ticket{Owner: "ada", Queues: []string{"quick"}})
	bob := w.wait(t, unused, &pb.Ticket{Owner: "bob"})
	for query, want := range map[string][]string{
		"": {ada, bob}, "queue=quick": {ada}, "player=bob": {bob}, "limit=1": {ada},
	} {
		w.read(t, "/tickets/waiting?"+query, http.StatusOK, &got)
		var ids []string
		for _, k := range got.Tickets {
			ids = append(ids, k.ID)
		}
		expect(t, query, ids, want...)
	}
	for range 200 {
		w.wait(t, unused, &pb.Ticket{Owner: "more"})
	}
	var problem struct{ Detail string }
	w.read(t, "/tickets/waiting", http.StatusConflict, &problem)
	if !strings.Contains(problem.Detail, "no config whose function runs") {
		t.Error(problem)
	}
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel"})
	w.read(t, "/tickets/waiting", http.StatusServiceUnavailable, &problem)
}

func TestListsHaveABudget(t *testing.T) {
	w := startLists(t)
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel"})
	sub, err := w.bus.ServeRuns("r", "demo", "duel", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		_ = answer(&pb.RunPart{Last: true, Stats: &pb.RunStats{Charge: 2_000_000}, Listed: &pb.Listed{}})
	})
	must(t, err)
	defer func() { <-sub.Stop() }()
	for n := range 10 {
		res := w.get(t, "/tickets/waiting")
		if res.StatusCode == http.StatusOK {
			continue
		}
		if n < 1 || res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" {
			t.Errorf("list %d is answered %d %v", n, res.StatusCode, res.Header)
		}
		return
	}
	t.Error("lists of two seconds each are never refused")
}

func TestRunnerThatSendsNoList(t *testing.T) {
	w := startLists(t)
	w.putConfig(t, &pb.Config{Id: "ranked", Function: "duel"})
	sub, err := w.bus.ServeRuns("r", "demo", "duel", func(_ context.Context, _ *pb.RunRequest, answer bus.SendPart) {
		_ = answer(&pb.RunPart{Last: true, Stats: &pb.RunStats{}})
	})
	must(t, err)
	defer func() { <-sub.Stop() }()
	var problem struct{ Detail string }
	w.read(t, "/tickets/waiting", http.StatusServiceUnavailable, &problem)
	if !strings.Contains(problem.Detail, "sent no list") {
		t.Error(problem)
	}
}
