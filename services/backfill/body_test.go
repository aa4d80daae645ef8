package backfill

import (
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

func TestBodiesOfAProjectAreLimited(t *testing.T) {
	t.Parallel()
	m := startWith(t, settings.Default[Settings](), func(o *Options, _ *web.Options) {
		o.Bodies = state.Rate{PerSecond: 1, Burst: 1 << 16}
	})
	const path = "/demo/matchmaking/api/v2/backfill"
	large := `{"attributes":` + strings.Repeat(" ", 40<<10) + `{}}`
	if r := m.post(t, path, large); r.status != http.StatusOK && r.status != http.StatusCreated {
		t.Fatalf("%+v", r)
	}
	other := &match{url: m.url, token: m.mint(t, issuer.Claims{Kind: auth.Server, Project: "other"})}
	for _, one := range []*match{m, other} { // where the path names no project, too
		r := one.post(t, "/api/v2/backfill", large)
		if limited := r.status == http.StatusTooManyRequests; limited != (one == m) {
			t.Errorf("%+v", r)
		}
	}
	for _, r := range []reply{m.post(t, path, large), m.put(t, path+"/one", large)} {
		if r.status != http.StatusTooManyRequests || !strings.Contains(r.body, "bodies") {
			t.Errorf("%+v", r)
		}
	}
	if r := m.put(t, path+"/one", "{}"); r.status == http.StatusTooManyRequests {
		t.Errorf("a small one: %+v", r)
	}
}
