package console_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/console"
	"matchmaker.dev/services/internal/edge/web"
)

// hostile is a name that a player or a studio may choose.
const hostile = `<script>alert("x")</script>'`

// ticketID is of version 7, so that it has a time.
const ticketID = "0198f3a2-5c1e-7d40-9a10-0a4be0d0c001"

// answers are what the API answers, by the ends of paths. Every name is hostile.
func answers() map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	object := func(pairs ...any) map[string]any {
		o := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
		return o
	}
	config := object("matchmaking", object("name", hostile, "targetFunction", object("name", hostile), "config",
		object(hostile, 100, "text", "x")), "queue", hostile)
	wait := object("kind", "wait", "count", 1, "mean", 1, "p10", 1, "p50", 1, "p90", 2)
	row := object("queue", hostile, "config", hostile, "slot", now, "matches", 1, "tickets", 2, "players", 2,
		"measures", []any{wait, object("kind", "spread", "name", hostile, "count", 1)},
		"outcomes", object("results", 3, "players", 6, "left", 0.25, "odds", []any{object("rating", hostile, "pairs", 3,
			"logLoss", 0.5, "brier", 0.2, "calibration", []any{object("from", 0.75, "pairs", 3, "predicted", 0.77,
				"won", 0.667)})}))
	ticket := object("id", ticketID, "created", 1, "waited", 5, "owner", hostile, "players", []any{hostile},
		"queues", []any{hostile}, "attributes", object(hostile, 1))
	event := object("id", "1.1", "time", now, "kind", "failed", "reason", hostile, "detail", hostile, "match", ticketID,
		"config", hostile, "position", 1)
	function := object("name", hostile, "created", now, "updated", now, "upload", 1, "status",
		object("state", "Running", "instances", []any{}), "health", object("runs", 1, "failed", 1, "failedShare", 1,
			"lastError", hostile, "lastErrorTime", now))
	filters := []any{object("attribute", hostile, "min", 1, "holds", false, "by", 1)}
	side := object("tickets", 4, "players", 4, "matched", 3, "left", 1, "failed", 0, "waiting", 0, "matches", 2, "runs", 9,
		"waits", []any{1, 2, 4}, "measures", []any{wait, object("kind", "spread", "name", hostile, "count", 1, "mean", 40)})
	return map[string]any{
		"/queues": object("time", now, "tickets", 1, "queues", []any{object("queue", hostile, "configs", []any{hostile},
			"tickets", 1, "players", 1, "oldest", 5), object("queue", "idle", "configs", []any{})}),
		"/configs": object("configs", []any{object("id", hostile, "etag", `"1"`, "name", hostile, "function", hostile,
			"queue", hostile)}),
		"/configs/" + hostile: config,
		"/configs/" + hostile + "/history": object("changes", []any{object("etag", `"2"`, "changed", now, "by", hostile,
			"current", true, "config", config), object("etag", `"1"`, "by", hostile, "config", object(hostile, hostile))}),
		"/settings/history": object("changes", []any{}),
		"/simulations/" + ticketID: object("id", ticketID, "config", hostile, "state", "done", "progress", 1, "updated", now,
			"recordedSince", now, "playedUntil", now, "tried", config, "present", side, "alternative", side),
		"/simulations/" + ticketID[:35] + "2": object("id", ticketID, "config", hostile, "state", "failed", "error", hostile,
			"progress", 0.5, "updated", now, "tried", config),
		"/functions":            object("functions", []any{function}),
		"/functions/" + hostile: function,
		"/functions/" + hostile + "/versions": object("versions", []any{object("version", 1, "note", hostile, "by", hostile,
			"uploaded", now)}),
		"/functions/" + hostile + "/log": object("lines",
			[]any{object("time", now, "upload", 1, "instance", "i", "text", hostile)}),
		"/tickets/waiting": object("tickets", []any{ticket}, "total", 1),
		"/events":          object("events", []any{event}, "next", "1.1", "more", false),
		"/matches": object("matches", []any{object("id", ticketID, "state", "assigned", "config", hostile, "queue", hostile,
			"created", now, "age", 5, "fleet", hostile, "region", hostile)}, "open", 1, "next", hostile),
		"/changes": object("changes", []any{object("id", "1-0", "time", now, "kind", "config", "name", hostile,
			"action", hostile, "by", hostile, "detail", hostile)}, "next", hostile),
		"v2/backfill": object("backfillTickets", []any{object("Id", hostile, "state", hostile, "Connection", hostile,
			"queue", hostile, "players", []any{hostile})}),
		"/parties/" + ticketID: object("id", ticketID, "leader", hostile, "size", 4, "members", []any{object("id", hostile)}),
		"/matches/report":      object("since", now, "until", now, "rows", []any{row}),
		"/matches/" + ticketID: object("id", ticketID, "state", "assigned", "upload", 3, "config", hostile,
			"created", now, "players", 1,
			"teams", []any{object("name", hostile, "odds", object(hostile, 0.6), "tickets", []any{object("id", ticketID,
				"players", []any{hostile}, "arrival", object("attributes", object(hostile, 5), "properties",
					object(hostile, []byte(`{"eu":20}`)), "players", []any{object("id", hostile)}))})},
			"result", object("reported", now, "corrections", 1, "teams", []any{object("name", hostile, "rank", 1, "score", 3,
				"players", []any{object("id", hostile, "left", 60)})}, "ratings", []any{object("player", hostile, "rating",
				hostile, "before", 20, "mean", 21)}),
			"server", object("connection", hostile), "measures", object(hostile, 1)),
		"/tickets/" + ticketID + "/explanation": object("id", ticketID, "state", "waiting", "players", 1, "queues",
			[]any{hostile}, "unservedQueues", []any{hostile}, "configs", []any{object("config", hostile, "function", hostile,
				"serves", true, "inPool", true, "pools", []any{object("pool", hostile, "filters", filters)}, "run",
				object("reasons", []any{object("reason", hostile, "candidates", 9)}))}),
	}
}

// start serves a console whose API has hostile names. Its viewer needs no login if local is true.
func start(t *testing.T, local bool, change ...map[string]any) *httptest.Server {
	t.Helper()
	known := answers()
	for _, other := range change {
		maps.Copy(known, other)
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := known[strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/demo/matchmaking/api/"), "v1")]
		if of, is := answer.(func(url.Values) any); is {
			answer = of(r.URL.Query())
		}
		status, refused := answer.(int)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") == "Bearer ended":
			w.WriteHeader(http.StatusUnauthorized)
		case !ok || answer == nil:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code":"configNotFound"}`)
		case refused:
			w.WriteHeader(status)
		default:
			_ = json.NewEncoder(w).Encode(answer) // a client that is gone fails the test elsewhere
		}
	}))
	t.Cleanup(api.Close)
	o := console.Options{Settings: console.Settings{Session: time.Hour, Viewers: 8, Environment: hostile},
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Project: "demo", API: func() string { return api.URL }}
	if local {
		o.Mint = func(string) (string, error) {
			return "x." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"console"}`)) + ".x", nil
		}
	}
	part, err := console.New(o)
	if err != nil {
		t.Fatal(err)
	}
	e := web.New(o.Log, web.Options{})
	part.Routes(e)
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	return s
}

// ask sends a request, and returns the answer's status, headers and body. Redirects are not followed.
func ask(t *testing.T, method, address string, form url.Values, headers ...string) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}

// The page of quality shows whether the odds of ratings came true.
func TestQualityShowsOdds(t *testing.T) {
	s := start(t, true)
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/quality", nil)
	for _, want := range []string{"log-loss 0.500", "Brier 0.200", "3 pairs: predicted 77 %, won 66.7 %",
		// The column from 75 to 80 % ends at two thirds of the height, which is 142.
		`d="M258.0 150.0V55.3H297.2V150.0Z"`, `d="M40.0 79.0L472.0 8.0"`, `<td class="n">25 %</td>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// What has no room is told of the rows that are shown.
func TestQualityTellsWhatIsLeftOut(t *testing.T) {
	s := start(t, true, map[string]any{"/matches/report": func(q url.Values) any {
		answer := answers()["/matches/report"].(map[string]any)
		answer["leftOut"] = map[bool]int{false: 3, true: 7}[q.Get("by") == "decile"]
		return answer
	}})
	for by, want := range map[string]string{"queue": "3", "decile": "7"} {
		_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/quality?by="+by, nil)
		if !strings.Contains(body, want+" matches are not in it") {
			t.Errorf("by %s the page does not say that %s matches are left out", by, want)
		}
	}
}

// A queue shows who waits also when no sample is to be had, which is asked for only where a page is not all.
func TestQueueOfManyTickets(t *testing.T) {
	for name, c := range map[string]struct {
		total       int
		page        bool
		want, lacks string
	}{
		"few, some of them gone": {200, true, "These are 1 of 200", "not known"},
		"no sample":              {201, true, "Who waits is not known", "Nobody waits"},
		"no page":                {9, false, "Who waits is not known", "Nobody waits"},
		"none":                   {0, true, "create --player alice --queue=&#39;&lt;", "not known"},
	} {
		s := start(t, true, map[string]any{"/tickets/waiting": func(q url.Values) any {
			answer := answers()["/tickets/waiting"].(map[string]any)
			if answer["total"] = c.total; c.total == 0 {
				answer["tickets"] = []any{}
			}
			if q.Has("sample") || !c.page {
				return nil
			}
			return answer
		}})
		_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/queue?queue="+url.QueryEscape(hostile), nil)
		if !strings.Contains(body, c.want) || strings.Contains(body, c.lacks) ||
			(c.page && c.total > 0) != strings.Contains(body, "Who waits longest") {
			t.Errorf("%s: the page has not %q, or has %q", name, c.want, c.lacks)
		}
	}
}

// Regions that players invent hide none in which many wait.
func TestInventedRegionsHideNoOther(t *testing.T) {
	s := start(t, true, map[string]any{"/tickets/waiting": func(url.Values) any {
		var all []any
		for i := range 60 {
			all = append(all, map[string]any{"id": ticketID, "region": fmt.Sprint("a", i), "players": []string{"ada"}},
				map[string]any{"id": ticketID, "region": "zealous", "players": []string{"ada", "bob"}})
		}
		return map[string]any{"tickets": all, "total": len(all)}
	}})
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/queue?queue=q&of=region+others", nil)
	for _, want := range []string{">zealous</a></td><td class=\"n\">60<", ` aria-current="true">others</a></td><td class="n">39<`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// The command on the page of a player is of that player in a shell, too.
func TestCommandOfAPlayerIsQuoted(t *testing.T) {
	s := start(t, true, map[string]any{"/tickets/waiting": map[string]any{"tickets": []any{}, "total": 0}})
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/player?id="+url.QueryEscape("a; id 'b"), nil)
	if want := `create --player=&#39;a; id &#39;\&#39;&#39;b&#39;<`; !strings.Contains(body, want) {
		t.Errorf("the page lacks %s", want)
	}
}

// Pages look as far back as reports go.
func TestRangesOfPages(t *testing.T) {
	s := start(t, true)
	for _, page := range []string{"now", "queue", "quality"} {
		_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/"+page+"?range=90d", nil)
		for _, back := range []string{"1h", "24h", "90d"} {
			if !strings.Contains(body, "range="+back) {
				t.Errorf("the page %s offers no range of %s", page, back)
			}
		}
		if !strings.Contains(body, `aria-current="true">90d<`) {
			t.Errorf("the page %s is not of 90 days", page)
		}
	}
}

// Names that players and studios choose are text on every page. The policy lets no script run but the console's own.
func TestNamesAreEscaped(t *testing.T) {
	s := start(t, true)
	name := url.QueryEscape(hostile)
	for _, page := range []string{"now", "queue?queue=" + name, "search?q=" + name, "player?id=" + name,
		"trial?id=" + ticketID, "trial?id=" + ticketID[:35] + "2",
		"ticket?id=" + ticketID, "match?id=" + ticketID, "game?id=" + ticketID, "party?id=" + ticketID,
		"configs", "config?id=" + name, "config?edit=true&id=" + name,
		"functions", "function?name=" + name, "fleets", "quality", "quality?by=" + name, "audit", "audit?by=" + name,
		"now?done=" + name, name} {
		status, header, body := ask(t, http.MethodGet, s.URL+"/console/demo/"+page, nil)
		if status != http.StatusOK && page != name || strings.Contains(body, "<script>alert") ||
			!strings.Contains(body, "<h1>") {
			t.Errorf("%s: %d\n%.2000s", page, status, body)
		}
		if page != "configs" && page != name && !strings.Contains(body, "&lt;script&gt;") {
			t.Errorf("%s does not show the name", page)
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %q", page, policy)
		}
		if strings.Contains(body, ">0x") || strings.Contains(body, "upload 0") {
			t.Errorf("%s shows a pointer, or no upload", page)
		}
		if strings.Contains(body, " style=") || strings.Contains(body, " onclick=") {
			t.Errorf("%s has what the policy refuses", page)
		}
	}
}

// What a page shows is there as JSON, too, also where nothing has happened yet.
func TestPagesAsJSON(t *testing.T) {
	none, now := map[string]any{}, time.Now().UTC().Format(time.RFC3339)
	for _, path := range []string{"/queues", "/configs", "/functions", "/tickets/waiting", "/events", "/matches",
		"/changes", "v2/backfill"} {
		none[path] = map[string]any{}
	}
	none["/matches/report"] = map[string]any{"since": now, "until": now, "rows": []any{}}
	name := url.QueryEscape(hostile)
	lists := []string{"now?", "queue?", "configs?", "functions?", "fleets?", "quality?", "audit?"}
	for _, world := range []struct {
		answers map[string]any
		pages   []string
	}{
		{none, lists},
		{nil, append(lists, "search?q="+name, "player?id="+name, "trial?id="+ticketID, "ticket?id="+ticketID,
			"match?id="+ticketID, "game?id="+ticketID, "party?id="+ticketID, "config?id="+name, "function?name="+name)},
	} {
		s := start(t, true, world.answers)
		for _, page := range world.pages {
			status, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/"+page+"&format=json", nil)
			if status != http.StatusOK || !json.Valid([]byte(body)) {
				t.Errorf("%s: %d %.2000s", page, status, body)
			}
		}
	}
}

// Whatever has an id is found by it, and what is not there is not.
func TestSearchFindsEveryID(t *testing.T) {
	for _, there := range []bool{true, false} {
		change := map[string]any{"/functions": map[string]any{}, "/configs": map[string]any{},
			"/tickets/waiting": map[string]any{}}
		if !there {
			for _, path := range []string{"/matches/", "/parties/", "/simulations/"} {
				change[path+ticketID] = nil
			}
			change["/events"], change["v2/backfill"] = map[string]any{}, map[string]any{}
		}
		s := start(t, true, change)
		_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/search?q="+ticketID, nil)
		for _, kind := range []string{"match", "ticket", "game", "trial", "party"} {
			if strings.Contains(body, "/"+kind+"?id="+ticketID) != there {
				t.Errorf("that the %s is there: %v\n%s", kind, there, body)
			}
		}
	}
}

// What a viewer may not see is not there, and one whose token has ended has to log in.
func TestSearchOfAViewerWithFewRights(t *testing.T) {
	for refusal, want := range map[int]string{http.StatusForbidden: "", http.StatusUnauthorized: "Unauthorized",
		http.StatusConflict: "Whether it is a trial is not known"} {
		s := start(t, true, map[string]any{"/simulations/" + ticketID: refusal})
		_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/search?q="+ticketID, nil)
		if !strings.Contains(body, want) || want == "" && strings.Contains(body, "not known") {
			t.Errorf("%d: %s", refusal, body)
		}
	}
}

// A page of something without an id asks for one.
func TestPagesNeedAnID(t *testing.T) {
	s := start(t, true)
	for _, page := range []string{"match", "ticket", "game", "party", "player", "trial", "config"} {
		status, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/"+page+"?id=", nil)
		if status != http.StatusBadRequest || !strings.Contains(body, "identifier") {
			t.Errorf("%s: %d", page, status)
		}
	}
}

// Servers are counted by fleet and region; a game counts where its match is, and what is over is no server.
func TestFleetsCountServers(t *testing.T) {
	match := func(id, state, fleet string) map[string]any {
		return map[string]any{"id": id, "state": state, "fleet": fleet, "region": "x"}
	}
	asked := 0
	s := start(t, true, map[string]any{"/matches": func(q url.Values) any {
		if q.Get("limit") != "200" {
			return map[string]any{"returning": 4}
		}
		asked++
		page := strconv.Itoa(asked)
		return map[string]any{"matches": []any{match("a", "assigned", "eu"), match("b"+page, "assigned", "eu"),
			match("c"+page, "allocating", "eu"), match("d"+page, "proposed", "us"), match("e"+page, "claimed", "us")},
			"next": page}
	}, "v2/backfill": map[string]any{"backfillTickets": []any{map[string]any{"match": "b1"},
		map[string]any{"match": "z"}}}})
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/fleets", nil)
	for _, want := range []string{`region=x">eu</a></td><td>x</td><td class="n">6</td><td class="n">5</td><td class="n">1</td>`,
		`region=x">us</a></td><td>x</td><td class="n">0</td><td class="n">5</td><td class="n">0</td>`,
		`not known</span></td><td>–</td><td class="n">0</td><td class="n">0</td><td class="n">1</td>`, "<dd>6+</dd>",
		"<dd>4</dd>", "or is behind the first pages"} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if asked != 5 {
		t.Errorf("it read %d pages", asked)
	}
}

// Fleets and regions that the list has no place for are counted.
func TestFleetsCountWhatTheyDoNotList(t *testing.T) {
	var all []any
	for i := range 40 {
		all = append(all, map[string]any{"id": strconv.Itoa(i), "state": "assigned", "fleet": strconv.Itoa(i)})
	}
	s := start(t, true, map[string]any{"/matches": map[string]any{"matches": all}, "v2/backfill": map[string]any{}})
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/fleets", nil)
	if !strings.Contains(body, "<dd>40</dd>") || !strings.Contains(body, "15 more of the fleets and regions") {
		t.Error(body)
	}
}

// The runs of a queue without a function are not known.
func TestQueuesOfNow(t *testing.T) {
	s := start(t, true)
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/now", nil)
	for _, want := range []string{`<td class="n bad-text">100 %</td>`, `<td class="n">–</td><td class="n">0</td>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// A match shows who plays, with what they brought and their odds, and its result.
func TestMatch(t *testing.T) {
	s := start(t, true)
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/match?id="+ticketID, nil)
	for _, want := range []string{"wins with 60 %", "<b>{&#34;eu&#34;:20}</b>", "after 60 s", `<td class="n">21</td>`,
		"corrected 1 time, "} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A trial shows both curves and the numbers beside each other, and the slider of a queue its number.
func TestTrial(t *testing.T) {
	s := start(t, true)
	_, _, body := ask(t, http.MethodGet, s.URL+"/console/demo/trial?id="+ticketID, nil)
	for _, want := range []string{`<td>In a match</td><td class="n">75 %</td><td class="n">75 %</td>`,
		`<td>Wait p50</td><td class="n">2 s</td><td class="n">2 s</td>`, "Nothing differs.",
		`class="line one" d="M40.0 150.0L144.0 150.0L248.0 96.8L456.0 43.5`, `>present: 0 % within 1 s<`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	name := url.QueryEscape(hostile)
	_, _, body = ask(t, http.MethodGet, s.URL+"/console/demo/queue?queue="+name+"&value=160&try="+ticketID, nil)
	for _, want := range []string{`min="0" max="400" step="10" value="160"`, `<output for="value">160</output> instead of 100`,
		"<td>Wait p90</td>"} {
		if !strings.Contains(body, want) {
			t.Errorf("the queue lacks %q", want)
		}
	}
}

// A simulation keeps masks of hosting keys: trying a config with other ones, or with a secret less, would lose that.
func TestChangedKeysArePutBeforeTheyAreTried(t *testing.T) {
	hosting := map[string]string{"Access": "AKIA", "Secret": "********", "FleetId": "eu"}
	s := start(t, true, map[string]any{"/simulations": map[string]any{"id": ticketID},
		"/configs/" + hostile: map[string]any{"hosting": hosting}})
	at := s.URL + "/console/demo/config"
	_, _, page := ask(t, http.MethodGet, at+"?edit=true&id="+url.QueryEscape(hostile), nil)
	_, token, _ := strings.Cut(page, `name="csrf" value="`)
	token, _, _ = strings.Cut(token, `"`)
	for _, x := range []struct{ id, text, want string }{
		{hostile, `{"hosting":{"Access":"","Secret":"new"}}`, "hosting.Secret: put changed keys"},
		{hostile, `{"hosting":{"Access":"new"}}`, "hosting.Access: put changed keys"},
		{hostile, `{"hosting":{"Access":"AKIA","secret":""}}`, "hosting.Secret: put changed keys"},
		{"gone", `{"hosting":{"Access":"AKIA","Secret":"********"}}`, "hosting.Access: put changed keys"},
		{"gone", `{"hosting":{"Access":"********","Secret":"********"}}`, ""},
		{hostile, `{"hosting":{"Access":"AKIA","Secret":"********"}}`, ""},
		{hostile, `{"hosting":{"Access":"AKIA","Secret":null}}`, ""},
		{hostile, `{"hosting":{"Access":"","FleetId":"eu"}}`, ""},
		{hostile, `{}`, ""},
	} {
		form := url.Values{"csrf": {token}, "do": {"try"}, "id": {x.id}, "text": {x.text}}
		status, _, body := ask(t, http.MethodPost, at, form)
		if x.want != "" && (status != http.StatusBadRequest || !strings.Contains(body, x.want)) ||
			x.want == "" && status != http.StatusSeeOther {
			t.Errorf("%s of %s: %d %.3000s", x.text, x.id, status, body)
		}
	}
}

// What does not come from a page of the session, or from this machine, changes and shows nothing.
func TestRequestsThatAreRefused(t *testing.T) {
	s, logins := start(t, true), start(t, false)
	erase := url.Values{"do": {"delete"}, "id": {hostile}, "confirm": {"yes"}}
	for name, tt := range map[string]struct {
		method, url string
		form        url.Values
		headers     []string
		status      int
	}{
		"another name of this machine": {"GET", s.URL + "/console/demo/now", nil, []string{"Host", "evil.example"}, 303},
		"no token of the page":         {"POST", s.URL + "/console/demo/config", erase, nil, 403},
		"another site": {"POST", s.URL + "/console/demo/config", erase,
			[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"an upload without the page": {"PUT", s.URL + "/console/demo/function?name=x", nil, nil, 403},
		"no login":                   {"GET", logins.URL + "/console/demo/now", nil, nil, 303},
		"no login, live": {"GET", logins.URL + "/console/demo/now", nil,
			[]string{"Accept", "text/event-stream"}, 204},
		"a made-up session": {"GET", logins.URL + "/console/demo/now", nil,
			[]string{"Cookie", "matchmaker-console=eA"}, 303},
		"a token that ended": {"POST", logins.URL + "/console/-/login", url.Values{"token": {"ended"}, "project": {"demo"}},
			nil, 401},
		"a file that is none": {"GET", s.URL + "/console/-/asset/..%2fconsole.go", nil, nil, 404},
	} {
		if status, _, body := ask(t, tt.method, tt.url, tt.form, tt.headers...); status != tt.status {
			t.Errorf("%s: %d, want %d\n%.500s", name, status, tt.status, body)
		}
	}
	status, header, _ := ask(t, "POST", logins.URL+"/console/-/login", url.Values{"token": {"a-token"},
		"project": {"demo"}, "to": {"//evil.example/console/demo/now"}})
	cookie := header.Get("Set-Cookie")
	if status != http.StatusSeeOther || header.Get("Location") != "/console/demo/now" ||
		strings.Contains(cookie, "a-token") || !strings.Contains(cookie, "HttpOnly") ||
		!strings.Contains(cookie, "SameSite=Lax") {
		t.Errorf("%d %v", status, header)
	}
	status, _, body := ask(t, "GET", logins.URL+"/console/demo/configs", nil, "Cookie", strings.Split(cookie, ";")[0])
	if status != http.StatusOK || !strings.Contains(body, "Configs") {
		t.Errorf("after the login: %d", status)
	}
}
