package auth_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
)

// TestUseOfTheVerifierIsMeasured: remembered tokens against their limits, and questions to the issuer, which invented
// keys do not multiply.
func TestUseOfTheVerifierIsMeasured(t *testing.T) {
	c, p := newClock(), newProvider(t)
	known, added := newEd25519(t), newEd25519(t)
	p.add(t, "known", known, nil)
	meter, measured := telemetrytest.New()
	v, err := auth.New(auth.Options{Issuers: []auth.Issuer{settings(p.url)}, Now: c.now, Meter: meter, CacheSize: 2,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	want := func(name string, want float64, labels ...string) {
		t.Helper()
		if got := measured.Value(t, name, labels...); got != want {
			t.Errorf("%s%v is %v, want %v", name, labels, got, want)
		}
	}
	want("matchmaker.tokens", 0, "kind", "used")
	want("matchmaker.tokens", 2, "kind", "limit")
	for _, player := range []string{"a", "b", "c"} {
		token := sign(t, jwa.EdDSA(), known, map[string]any{"kid": "known"}, claims(c, map[string]any{"sub": player}))
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	want("matchmaker.tokens", 2, "kind", "used")
	if bytes := measured.Value(t, "matchmaker.tokens.size", "kind", "used"); bytes < 2*400 || bytes > 10_000 {
		t.Errorf("they take %v bytes", bytes)
	}
	asked := func(outcome string, n float64) {
		t.Helper()
		want("matchmaker.issuer.questions", n, "issuer", "https://id.example", "outcome", outcome)
	}
	asked("ok", 1)
	p.add(t, "added", added, nil)
	token := sign(t, jwa.EdDSA(), added, map[string]any{"kid": "added"}, claims(c, nil))
	for range 10 {
		wantRefused(t, v, token, "the token is signed with an unknown key")
	}
	asked("ok", 1)
	c.add(11 * time.Second)
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Error(err)
	}
	asked("ok", 2)
}
