package console_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/test/launch"
)

const (
	crowd   = 100_000 // tickets that wait
	viewers = 100
	watched = 15 * time.Second
)

// tryLoad measures a console under load. What can be counted is checked, and times are printed.
func tryLoad(t *testing.T, w *world) {
	must(t, w.crowd(t.Context()))
	api, err := url.Parse(w.URL)
	must(t, err)
	var asked atomic.Int64
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		asked.Add(1)
		r.SetURL(api)
	}})
	t.Cleanup(proxy.Close)
	s, err := launch.Start(t.Context(), os.Stderr, filepath.Join(*bin, "matchmaker"), "console", "--listen", "127.0.0.1:0",
		"--api-url", proxy.URL, "--log-level", "error")
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	for _, page := range []string{"/now", "/queue?queue=crowd"} {
		var times []time.Duration
		for i := range 5 {
			v := w.signIn(t, s.URL, fmt.Sprint("sue-", i)) // nothing is shared with another token
			began := time.Now()
			text := v.get(t, page)
			times = append(times, time.Since(began))
			if !strings.Contains(text, "100\u202f000") {
				t.Errorf("%s does not say that 100,000 wait", page)
			}
		}
		slices.Sort(times)
		t.Logf("%s with %d tickets: median %v, greatest %v", page, crowd, times[2], times[4])
	}

	v := w.signIn(t, s.URL, "sue")
	measure := func(n int) (requests int64, cpu time.Duration) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var all errgroup.Group
		for range n {
			all.Go(func() error { return v.watch(ctx) })
		}
		began, before := asked.Load(), cpuOf(t, s.PID())
		select {
		case <-time.After(watched):
		case <-ctx.Done():
		}
		requests, cpu = asked.Load()-began, cpuOf(t, s.PID())-before
		stop()
		must(t, all.Wait())
		return requests, cpu
	}
	one, _ := measure(1)
	many, cpu := measure(viewers)
	t.Logf("%d viewers: %d requests to the API in %v, one viewer: %d; %.1f %% of a core", viewers, many, watched, one,
		100*cpu.Seconds()/watched.Seconds())
	if many > one*3/2+10 {
		t.Errorf("%d viewers ask the API %d times, and one %d times", viewers, many, one)
	}
	firstPicture(t, w)
}

// cpuOf is the processor time that a process took.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+2:]))
	user, err := strconv.Atoi(fields[11])
	must(t, err)
	system, err := strconv.Atoi(fields[12])
	must(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// crowd creates tickets that no config serves.
func (w *world) crowd(ctx context.Context) error {
	store, err := w.store()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	settings, err := store.Settings(ctx, project)
	if err != nil {
		return err
	}
	creator := store.Creator(nil)
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(512)
	for i := range crowd {
		all.Go(func() error {
			now := store.Now()
			_, err := creator.CreateAs(ctx, project, state.Creation{Settings: settings, Ticket: &pb.Ticket{
				Id: state.NewID(now), Owner: fmt.Sprint("crowd-", i), Created: now.UnixMilli(), Queues: []string{"crowd"},
				AttributeNames: []string{"skill"}, AttributeValues: []float64{float64(i % 3000)}}})
			return err
		})
	}
	return all.Wait()
}

// visitor is a viewer without a browser.
type visitor struct {
	http.Client
	base string
}

// signIn signs in at a console with logins.
func (w *world) signIn(t *testing.T, console, subject string) *visitor {
	t.Helper()
	token, err := w.Role(project, "Support", subject, time.Hour)
	must(t, err)
	v := &visitor{base: console + "/console/" + project}
	v.Jar, err = cookiejar.New(nil)
	must(t, err)
	v.Transport = &http.Transport{MaxIdleConnsPerHost: viewers}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, console+"/console/-/login",
		strings.NewReader(url.Values{"project": {project}, "token": {token}}.Encode()))
	must(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := v.Do(req)
	must(t, err)
	must(t, res.Body.Close())
	if res.StatusCode != http.StatusOK {
		t.Fatalf("the login is answered %s", res.Status)
	}
	return v
}

func (v *visitor) get(t *testing.T, page string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.base+page, http.NoBody)
	must(t, err)
	res, err := v.Do(req)
	must(t, err)
	defer func() { must(t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	must(t, err)
	return string(text)
}

// watch follows a page until ctx ends. It must be live.
func (v *visitor) watch(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+"/now", http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := v.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	events, lines := 0, bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: page") || strings.HasPrefix(lines.Text(), "event:page") {
			events++
		}
	}
	if ctx.Err() == nil || events == 0 {
		return fmt.Errorf("a stream ended with %d pages: %s", events, res.Status)
	}
	return nil
}

// firstPicture loads a page over a slow connection, with nothing in the browser's cache.
func firstPicture(t *testing.T, w *world) {
	b := newBrowser(t)
	b.run(t, network.Enable(), network.SetCacheDisabled(true),
		network.EmulateNetworkConditions(false, 40, 1.6e6/8, 0.75e6/8))
	b.goTo(t, w.URL+"/console/"+project+"/now")
	b.until(t, `performance.getEntriesByName("first-contentful-paint").length > 0`, "nothing was painted")
	var paint, bytes float64
	b.run(t, chromedp.Evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`, &paint),
		chromedp.Evaluate(`[performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource")]
			.reduce((sum, e) => sum + (e.transferSize || 0), 0)`, &bytes))
	t.Logf("the first picture at 1.6 Mbit/s and 40 ms: %.0f ms, %.0f bytes", paint, bytes)
	if bytes == 0 || bytes > 150_000 {
		t.Errorf("it has %.0f bytes: 1.6 Mbit/s carry 200,000 a second", bytes)
	}
}
