package auth_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
)

// A host whose clock is wrong says nothing of tokens until it knows the right time: neither that one is valid, nor that
// it is not.
func TestNoTokenIsJudgedBeforeTheTimeIsKnown(t *testing.T) {
	c, p, key := newClock(), newProvider(t), newEd25519(t)
	p.add(t, "ed", key, nil)
	var known atomic.Bool
	v, err := auth.New(auth.Options{
		Issuers: []auth.Issuer{settings(p.url)}, Now: c.now, Known: known.Load, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, jwa.EdDSA(), key, map[string]any{"kid": "ed"}, claims(c, nil))
	expired := sign(t, jwa.EdDSA(), key, map[string]any{"kid": "ed"},
		claims(c, map[string]any{"exp": c.now().Add(-time.Hour).Unix()}))
	for _, token := range []string{good, expired} {
		if _, err := v.Verify(t.Context(), token); problem.KindOf(err) != problem.Unavailable {
			t.Errorf("before the time is known: %v", err)
		}
	}
	known.Store(true)
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Error(err)
	}
	if _, err := v.Verify(t.Context(), expired); problem.KindOf(err) != problem.Unauthenticated {
		t.Errorf("the expired one: %v", err)
	}
}
