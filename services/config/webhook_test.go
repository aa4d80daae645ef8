package config

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// whsec is a secret of so many bytes.
func whsec(n int, letter string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(letter, n)))
}

// webhookFor is the webhook a.
func webhookFor(url, events, secret string) string {
	return fmt.Sprintf(`{"a":{"url":%q,"events":%s,"secret":%q}}`, url, events, secret)
}

func TestWebhooksWithoutHostingKeys(t *testing.T) {
	s := start(t, func(o *Options) { o.Keys = nil })
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: "demo", Role: "Owner"})
	s.do(t, "PUT", "/settings", `{"webhooks":{"a":{"url":"nats:","events":["*"]}}}`).expect(t, 200)
	same(t, s.do(t, "GET", "/settings", "").body, `{"webhooks":{"a":{"url":"nats:","events":["*"]}}}`)
	r := s.do(t, "PUT", "/settings", `{"webhooks":`+webhookFor("https://a.example", `["*"]`, whsec(24, "a"))+`}`)
	if r.status != 400 || !strings.Contains(r.body, "setting hosting-keys") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestSecretsOfWebhooks(t *testing.T) {
	changed := 0
	s := start(t, func(o *Options) { o.WebhooksChanged = func() { changed++ } })
	s.token = s.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: "demo", Role: "Owner"})
	put := func(webhooks string) {
		t.Helper()
		s.do(t, "PUT", "/settings", `{"webhooks":{`+webhooks+`}}`).expect(t, 200)
	}
	hook := func(secret string) string {
		return strings.Trim(webhookFor("https://a.example", `["assigned"]`, secret), "{}") + "}"
	}
	// stored are the secrets, and whether the previous one still signs.
	stored := func(want string) {
		t.Helper()
		p, err := s.store.Settings(t.Context(), "demo")
		must(t, err)
		secrets, err := s.ring.OpenWebhook("demo", p.GetWebhooks()[0])
		must(t, err)
		left := time.UnixMilli(secrets.GetUntil()).Sub(s.store.Now())
		got := fmt.Sprintf("%.1s %.1s %v", secrets.GetCurrent(), secrets.GetPrevious(), left > 23*time.Hour)
		if got != want {
			t.Errorf("stored are %q, want %q", got, want)
		}
		same(t, s.do(t, "GET", "/settings", "").body, `{"webhooks":{`+hook(mask)+`}}`)
		if text, err := s.ring.OpenWebhook("other", p.GetWebhooks()[0]); err == nil {
			t.Errorf("another project opens them: %v", text)
		}
	}
	put(hook(whsec(32, "a")))
	stored("a  false")
	put(hook(mask))
	stored("a  false")
	put(hook(whsec(32, "b")))
	stored("b a true")
	put(`"a":{"url":"https://a.example","events":["assigned"]}`)
	stored("b a true")
	put(hook(whsec(32, "b"))) // the same again ends nothing
	stored("b a true")
	if r := s.do(t, "GET", "/settings/history", ""); strings.Contains(r.body, "whsec_") || changed != 5 {
		t.Errorf("%d changes: %s", changed, r.body)
	}
	// A webhook that was removed is new when it comes again.
	put("")
	put(hook(whsec(32, "c")))
	stored("c  false")
}
