// Package console_test tries the console in a browser, on a system with players. `make check PART=console` runs it.
package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/test/launch"
)

var (
	bin      = flag.String("bin", "", "the folder of what make build builds")
	pictures = flag.String("pictures", "", "write a picture of each page into this folder")
	axe      = flag.String("axe", "node_modules/axe-core/axe.min.js", "the script that looks for what keeps people out")
	serve    = flag.Bool("serve", false, "show the console until Ctrl-C, for somebody to look at")
)

// patience is how long a condition may take.
const patience = 2 * time.Minute

func TestServe(t *testing.T) {
	if !*serve {
		t.Skip("for people: go test ./test/console -run Serve -timeout 0 -args -bin $PWD/bin -serve")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	w := newWorld(t, *bin)
	fmt.Println(w.URL + "/console")
	must(t, w.play(ctx))
}

// browser is one tab, and what its pages were found to do.
type browser struct {
	context.Context
	mu       sync.Mutex
	findings []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox,
		chromedp.WindowSize(1440, 900), chromedp.Flag("force-color-profile", "srgb"))
	all, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	tab, end := chromedp.NewContext(all)
	t.Cleanup(end)
	b := &browser{Context: tab}
	chromedp.ListenTarget(tab, func(event any) {
		switch e := event.(type) {
		case *log.EventEntryAdded: // violations of the policy are here
			if e.Entry.Source == log.SourceSecurity || e.Entry.Source == log.SourceViolation {
				b.note(e.Entry.Text)
			}
		case *runtime.EventExceptionThrown:
			b.note(e.ExceptionDetails.Error())
		case *page.EventJavascriptDialogOpening:
			go func() { _ = chromedp.Run(tab, page.HandleJavaScriptDialog(true)) }()
		}
	})
	must(t, chromedp.Run(tab, log.Enable())) // without a limit: the browser ends with the first context
	return b
}

func (b *browser) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.findings = append(b.findings, text)
}

// check fails if a page has findings.
func (b *browser) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.findings {
		t.Error(text)
	}
	b.findings = nil
}

func (b *browser) run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// until waits until an expression is true. While a page gives way to the next one there is none to ask.
func (b *browser) until(t *testing.T, expression, failure string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b, patience)
	defer cancel()
	for {
		var is bool
		err := chromedp.Run(ctx, chromedp.Evaluate(expression, &is))
		switch {
		case err == nil && is:
			return
		case ctx.Err() != nil:
			var got string
			_ = chromedp.Run(b, chromedp.Evaluate("location.href + '\\n' + document.body.innerText", &got))
			t.Fatalf("%s: %v\n%.3000s", failure, err, got)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// sees waits until the page has a text.
func (b *browser) sees(t *testing.T, text string) {
	t.Helper()
	b.until(t, fmt.Sprintf("document.body.innerText.includes(%s)", quote(t, text)), "the page does not say "+text)
}

func quote(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	must(t, err)
	return string(quoted)
}

// goTo opens a page.
func (b *browser) goTo(t *testing.T, address string) {
	t.Helper()
	b.run(t, chromedp.Navigate(address))
}

// press presses a button or follows a link, by its text.
func (b *browser) press(t *testing.T, text string) {
	t.Helper()
	b.until(t, fmt.Sprintf(`(() => {
		const found = [...document.querySelectorAll('a, button')].find(e => e.textContent.trim() === %s)
		found?.click()
		return !!found
	})()`, quote(t, text)), "there is no button "+text)
}

// shown are the pages with something on them.
func (w *world) shown(t *testing.T) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found := ""
	for found == "" { // a match of two teams
		page, err := w.studio.GetEvents(ctx, client.EventQuery{Kinds: []string{"assigned"}, Config: "casual", Limit: 1})
		must(t, err)
		for _, e := range page.Events {
			found = e.Match
		}
		if found == "" {
			wait(ctx, t)
		}
	}
	m, err := w.studio.GetMatch(ctx, found)
	must(t, err)
	_, err = w.lobby.ReportResult(ctx, found, client.ReportedTeam{Name: m.Teams[0].Name, Rank: 1},
		client.ReportedTeam{Name: m.Teams[1].Name, Rank: 2})
	must(t, err)
	for i := range 120 { // that is an evening
		_, err := w.create(ctx, fmt.Sprint("guest-", i), "ranked", 1500+math.Round(500*math.Sin(float64(i*i))))
		must(t, err)
	}
	at, none := w.URL+"/console/"+project, w.URL+"/console/empty" // a project in which nothing is
	ranked, err := w.studio.GetConfig(ctx, "ranked")
	must(t, err)
	tried, err := w.studio.TryConfig(ctx, "ranked", bytes.Replace(ranked.JSON, []byte(`"window":100`),
		[]byte(`"window":20`), 1), nil)
	must(t, err)
	if tried.State != "done" || tried.Present.Tickets == 0 || tried.Present.Matched == 0 {
		t.Errorf("tried on what came so far: %+v", tried)
	}
	return map[string]string{
		"trial": at + "/trial?id=" + tried.ID, "whatif": at + "/queue?queue=ranked&setting=window&value=20&try=" + tried.ID,
		"now": at + "/now", "queue": at + "/queue?queue=ranked", "ticket": at + "/ticket?id=" + w.elder,
		"player": at + "/player?id=grandmaster", "match": at + "/match?id=" + found, "configs": at + "/configs",
		"config": at + "/config?id=ranked", "edit": at + "/config?id=ranked&edit=true", "functions": at + "/functions",
		"function": at + "/function?name=duel", "fleets": at + "/fleets?range=15m",
		"quality": at + "/quality", "deciles": at + "/quality?by=decile",
		"audit": at + "/audit", "quarter": at + "/queue?queue=ranked&range=90d", "month": at + "/now?range=30d",
		"search": at + "/search?q=ran", "no queues": none + "/now", "no queue": none + "/queue?queue=x",
		"no player": none + "/player?id=x", "no configs": none + "/configs", "no functions": none + "/functions",
		"no fleets": none + "/fleets", "no quality": none + "/quality?by=decile", "no changes": none + "/audit",
		"no result": none + "/search?q=x", "no party": at + "/queue?queue=ranked&of=party+9",
		"game": at + "/game?id=" + w.game, "party": at + "/party?id=" + w.party,
	}
}

func wait(ctx context.Context, t *testing.T) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	case <-time.After(100 * time.Millisecond):
	}
}

// look is a way to look at a page.
type look struct {
	name          string
	width, height int64
	scheme        string
}

func (b *browser) as(t *testing.T, l look) {
	t.Helper()
	b.run(t, emulation.SetDeviceMetricsOverride(l.width, l.height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: l.scheme}}))
}

func TestConsole(t *testing.T) {
	if *bin == "" {
		t.Skip("make check PART=console builds what it needs")
	}
	w := newWorld(t, *bin)
	ctx, stop := context.WithCancel(t.Context())
	played := make(chan error, 1)
	go func() { played <- w.play(ctx) }()
	defer func() {
		stop()
		must(t, <-played)
	}()
	pages := w.shown(t)
	b := newBrowser(t)
	t.Run("pages", func(t *testing.T) { b.tryPages(t, pages) })
	t.Run("actions", func(t *testing.T) { b.tryActions(t, w) })
	t.Run("logins", func(t *testing.T) { tryLogins(t, w) })
	t.Run("provider", func(t *testing.T) { tryProvider(t, w) })
	t.Run("load", func(t *testing.T) { tryLoad(t, w) })
}

// tryPages looks at every page in light and dark, wide and narrow: nothing breaks the policy, nothing is wider than the
// window, and axe finds nothing.
func (b *browser) tryPages(t *testing.T, pages map[string]string) {
	script, err := os.ReadFile(*axe)
	must(t, err)
	if *pictures != "" {
		must(t, os.MkdirAll(*pictures, 0o755))
	}
	for _, l := range []look{{"light", 1280, 800, "light"}, {"dark", 1280, 800, "dark"}, {"narrow", 360, 740, "light"},
		{"huge", 3840, 2160, "dark"}} {
		b.as(t, l)
		for name, address := range pages {
			if none := strings.HasPrefix(name, "no "); none && (l.name == "dark" || l.name == "huge") {
				continue // they are like the others
			}
			b.goTo(t, address)
			b.run(t, chromedp.WaitVisible("main h1"))
			var wide bool
			b.run(t, chromedp.Evaluate("document.documentElement.scrollWidth > innerWidth", &wide))
			if wide {
				t.Errorf("%s, %s: it is wider than the window", name, l.name)
			}
			if l.name != "huge" {
				b.runAxe(t, name+", "+l.name, string(script))
			}
			if *pictures != "" && name != "month" && name != "quarter" && !strings.HasPrefix(name, "no ") {
				var png []byte
				b.run(t, chromedp.FullScreenshot(&png, 100))
				must(t, os.WriteFile(filepath.Join(*pictures, name+"-"+l.name+".png"), png, 0o600))
			}
		}
	}
	b.as(t, look{"", 1280, 800, "light"})
	b.check(t)
}

// runAxe looks for what keeps out users of a keyboard or a screen reader. The policy lets no page load the
// script: the debugger runs it.
func (b *browser) runAxe(t *testing.T, where, script string) {
	t.Helper()
	var found []string
	b.run(t, chromedp.Evaluate(script+";0", nil), chromedp.Evaluate(`axe.run({resultTypes: ['violations']}).then(r =>
		r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html.slice(0, 200) + ' ' + n.failureSummary)))`, &found,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	for _, text := range found {
		t.Errorf("%s: %s", where, text)
	}
}

// tryActions does each action with its question, and looks whether the audit has it with its author.
func (b *browser) tryActions(t *testing.T, w *world) {
	at := w.URL + "/console/" + project
	b.goTo(t, at+"/now")
	b.sees(t, "Live")
	b.run(t, emulation.SetTimezoneOverride("Asia/Tokyo"))
	b.goTo(t, at+"/audit")
	b.until(t, `[...document.querySelectorAll('time')].some(e => e.textContent.includes(
		new Date(e.dateTime).toLocaleTimeString('en-GB', { timeZone: 'Asia/Tokyo' })))`, "times are in the viewer's zone")
	b.run(t, chromedp.KeyEvent(kb.Tab))
	b.until(t, "document.activeElement.className === 'skip'", "the first key leads to the content")
	b.run(t, chromedp.KeyEvent("/"))
	b.until(t, "document.activeElement.name === 'q'", "the key / leads to the search")
	b.run(t, chromedp.Evaluate("document.activeElement.value = ''", nil), // the debugger types what the page prevents
		chromedp.SendKeys(".find input", "grandmaster\r")) // from a name to the reason, in three clicks
	b.sees(t, "Player grandmaster")
	b.press(t, "Why?")
	b.sees(t, "Why it waits")
	b.sees(t, "It is in none")

	b.goTo(t, at+"/config?id=ranked&edit=true")
	edit := func(before, after string) {
		t.Helper()
		b.run(t, chromedp.Evaluate(fmt.Sprintf(`{ const text = document.getElementById('text')
			text.value = text.value.replace(%s, %s)
			text.dispatchEvent(new Event('input', { bubbles: true })) }`, quote(t, before), quote(t, after)), nil))
	}
	edit(`"widen": 10`, `"widen": 12,`) // it is checked as it is typed
	b.until(t, "document.querySelector('.said.bad')?.textContent.includes('JSON')", "it does not say that this is no JSON")
	edit(`"widen": 12,`, `"widen": 12`)
	b.sees(t, "Values that differ from what is stored: 1.")
	b.run(t, chromedp.Evaluate(`{ const text = document.getElementById('text'); text.focus()
		text.setSelectionRange(0, text.value.indexOf('"targetFunction"') + 18) }`, nil))
	b.sees(t, "matchmaking.targetFunction: ")
	b.run(t, chromedp.Evaluate(`document.querySelector('.editor').requestSubmit()`, nil))
	b.sees(t, "Change the config ranked?")
	b.sees(t, "matchmaking.config.widen")
	b.press(t, "Put it")
	b.sees(t, "Stored as")
	b.run(t, chromedp.Evaluate(`document.querySelector('[value=rollback]').form.requestSubmit()`, nil))
	b.sees(t, "with the hosting keys of that time")
	b.press(t, "Go back")
	b.sees(t, "Went back.")
	b.goTo(t, at+"/config?new=true")
	b.run(t, chromedp.SendKeys("#id", "spare"), chromedp.Submit(".editor"))
	b.sees(t, "Create the config spare?")
	b.press(t, "Put it")
	b.sees(t, "Stored as")
	b.press(t, "Delete this config …")
	b.sees(t, "Delete the config spare?")
	b.press(t, "Delete it")
	b.sees(t, "It was deleted.")
	b.goTo(t, at+"/config?new=true")
	b.run(t, chromedp.SendKeys("#id", "bad"), chromedp.Evaluate("document.getElementById('text').value = '{'", nil),
		chromedp.Submit(".editor"))
	b.sees(t, "Bad Request")

	// A config is tried before it is put, and a queue says what if.
	b.goTo(t, at+"/config?id=ranked&edit=true")
	b.run(t, chromedp.Evaluate(`document.getElementById('text').value = document.getElementById('text').value.replace(
		'"window": 100', '"window": 30')`, nil))
	b.press(t, "Try on the last hour")
	b.sees(t, "Tickets with a match, by how long they waited")
	b.sees(t, "Wait p50")
	b.sees(t, "matchmaking.config.window")
	b.press(t, "Edit further")
	b.until(t, `document.getElementById('text')?.value.includes('"window": 30')`, "the editor has what was tried")
	b.goTo(t, at+"/queue?queue=ranked")
	b.sees(t, "instead of 100")
	b.run(t, chromedp.Evaluate("document.getElementById('value').focus()", nil), chromedp.KeyEvent(kb.ArrowLeft))
	b.until(t, "document.querySelector('output').value === '90'", "the number follows the slider")
	b.press(t, "Try on the last hour")
	b.sees(t, "Wait p50")
	b.until(t, "new URL(location).searchParams.get('value') === '90' && document.querySelector('output').value === '90'",
		"the address has the number")
	b.press(t, "The config that was tried")
	b.sees(t, "matchmaking.config.window")

	b.goTo(t, at+"/function?name=duel")
	b.sees(t, "Shadow: upload 2")
	b.press(t, "End it")
	b.sees(t, "End the shadow of duel?")
	b.press(t, "End it")
	b.sees(t, "The shadow has ended.")
	b.press(t, "Canary")
	b.press(t, "Begin the canary")
	b.sees(t, "Canary: upload 2")
	b.press(t, "Let it run")
	b.press(t, "Promote it")
	b.sees(t, "That upload takes over")
	file := filepath.Join(*bin, "functions", "arena.zip")
	b.goTo(t, at+"/functions")
	// A page does not change under a field that has the focus.
	b.run(t, chromedp.Evaluate("document.querySelector('[name=name]').focus()", nil),
		chromedp.SendKeys("[name=name]", "arena"), chromedp.SendKeys("[name=note]", "by hand"),
		chromedp.SetUploadFiles("[type=file]", []string{file}))
	b.press(t, "Upload …")
	b.sees(t, "The file was uploaded.")
	b.sees(t, "Upload a new version")
	for text, want := range map[string]string{"": "empty", "no archive": "archive"} { // a file that is dropped is refused
		b.run(t, chromedp.Evaluate(`{ const files = new DataTransfer()
			files.items.add(new File([`+quote(t, text)+`], 'arena.zip'))
			document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {bubbles: true, dataTransfer: files})) }`, nil))
		b.until(t, "document.querySelector('.said').textContent.includes('"+want+"')", "it says that the file is "+want)
	}
	b.press(t, "Delete this function …")
	b.sees(t, "Delete the function arena?")
	b.press(t, "Delete it")
	b.sees(t, "Deleted.")

	b.goTo(t, at+"/audit?by=console")
	b.sees(t, "put \"")
	b.check(t)
}

// tryLogins goes through a console with logins: tokens that may not, one that ends, and forms of other sites.
func tryLogins(t *testing.T, w *world) {
	keys := filepath.Join(t.TempDir(), "console-keys")
	_, err := keyring.Add(keys, time.Now())
	must(t, err)
	s := w.console(t, "127.0.0.1:0", keys)
	defer func() { must(t, s.Stop()) }()
	b := newBrowser(t)
	b.goTo(t, s.URL+"/console/"+project+"/configs")
	signIn := func(token string) {
		t.Helper()
		b.run(t, chromedp.SetValue("#project", project), chromedp.SetValue("#token", token), chromedp.Submit(".login form"))
	}
	player, err := w.Token(auth.Player, project, "ada")
	must(t, err)
	elsewhere, err := w.Token(auth.Developer, "other", "eve")
	must(t, err)
	for name, token := range map[string]string{"no token": "x", "a player": player, "another project": elsewhere} {
		signIn(token)
		b.sees(t, "Sign in")
		var text string
		b.run(t, chromedp.Text("[role=alert]", &text))
		if !strings.Contains(text, "oken") {
			t.Errorf("%s: %q", name, text)
		}
	}
	support, err := w.Role(project, "Support", "sue", time.Hour)
	must(t, err)
	signIn(support)
	b.sees(t, "live")
	b.press(t, "ranked") // back at the page that was asked for
	b.sees(t, "Config ranked")
	b.press(t, "Delete this config …")
	b.press(t, "Delete it")
	b.sees(t, "Your role may not do this")
	tryRefusals(t, w, s.URL)
	b.goTo(t, s.URL+"/console/"+project+"/now")
	b.sees(t, "Live")
	must(t, s.Stop()) // the connection is lost, and comes back
	b.sees(t, "Reconnecting")
	s = w.console(t, strings.TrimPrefix(s.URL, "http://"), keys)
	b.sees(t, "Live")
	b.run(t, storage.ClearCookies()) // as another tab does that signs out
	must(t, s.Stop())
	s = w.console(t, strings.TrimPrefix(s.URL, "http://"), keys)
	b.sees(t, "sign in again")
	b.goTo(t, s.URL+"/console/other/now")
	b.sees(t, "Sign in")
	short, err := w.Role(project, "Owner", "olga", 20*time.Second)
	must(t, err)
	b.goTo(t, s.URL+"/console/-/login")
	signIn(short)
	b.sees(t, "Live")
	b.sees(t, "Sign in") // the token has ended, and the page says so by itself
	b.check(t)
	// A form of another site changes nothing.
	form := url.Values{"do": {"delete"}, "id": {"ranked"}, "confirm": {"yes"}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/console/demo/config",
		strings.NewReader(form.Encode()))
	must(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a form without a token: %d", res.StatusCode)
	}
}

// tryRefusals does each action as Support, who may do none: it says so, and changes nothing.
func tryRefusals(t *testing.T, w *world, console string) {
	v := w.signIn(t, console, "sam")
	_, token, _ := strings.Cut(v.get(t, "/configs"), `name="csrf" value="`)
	if token, _, _ = strings.Cut(token, `"`); token == "" {
		t.Fatal("the page has no token, without which all is refused")
	}
	post := func(method, page string, form url.Values) {
		r, err := http.NewRequestWithContext(t.Context(), method, v.base+page, strings.NewReader(form.Encode()))
		must(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-CSRF-Token", token)
		res, err := v.Do(r)
		must(t, err)
		text, err := io.ReadAll(res.Body)
		must(t, errors.Join(err, res.Body.Close()))
		if res.StatusCode != http.StatusForbidden || !strings.Contains(string(text), "the role Manager or Owner ") {
			t.Errorf("%s %s %v: %s %.500s", method, page, form, res.Status, text)
		}
	}
	before, err := w.studio.ListConfigs(t.Context())
	must(t, err)
	for page, actions := range map[string][]string{"/config": {"put", "try", "rollback", "delete"}, "/queue": {"try"},
		"/function": {"rollback", "shadow", "endshadow", "canary", "endcanary", "promote", "delete"}} {
		for _, do := range actions {
			post(http.MethodPost, page, url.Values{"csrf": {token}, "confirm": {"yes"}, "do": {do}, "id": {"ranked"},
				"text": {`{"matchmaking":{"targetFunction":{"name":"duel"}}}`}, "etag": {before[0].ETag}, "version": {"1"},
				"name": {"duel"}, "config": {"ranked"}, "setting": {"window"}, "value": {"50"}})
		}
	}
	post(http.MethodPut, "/function?name=duel", url.Values{"file": {"x"}})
	after, err := w.studio.ListConfigs(t.Context())
	must(t, err)
	changes, err := w.studio.ListChanges(t.Context(), client.ChangeQuery{By: "sam"})
	must(t, err)
	if !slices.Equal(before, after) || len(changes.Changes) > 0 {
		t.Errorf("%+v, before %+v, and the changes %+v", after, before, changes)
	}
}

// console starts a console with logins, at an address that is free or was.
func (w *world) console(t *testing.T, address, keys string) *launch.Server {
	t.Helper()
	s, err := launch.Start(t.Context(), os.Stderr, filepath.Join(*bin, "matchmaker"), "console", "--listen", address,
		"--api-url", w.URL, "--environment", "live", "--production", "--console-keys", keys, "--log-level", "error",
		"--log-format", "text")
	must(t, err)
	return s
}
