package auth_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
)

// world is a verifier of one issuer with one key, "first", and tokens of it.
type world struct {
	*testing.T
	clock *clock
	p     *provider
	v     *auth.Verifier
	n     int
}

func newWorld(t *testing.T) *world {
	c, p := newClock(), newProvider(t)
	p.add(t, "first", newEd25519(t), nil)
	return &world{T: t, clock: c, p: p, v: newVerifier(t, c, settings(p.url))}
}

// verify takes a new token, which no cache knows.
func (w *world) verify(kid string) error {
	w.Helper()
	w.n++
	token := sign(w, jwa.EdDSA(), w.p.keys[kid], map[string]any{"kid": kid},
		claims(w.clock, map[string]any{"sub": fmt.Sprint("player-", w.n)}))
	_, err := w.v.Verify(w.Context(), token)
	return err
}

func (w *world) want(when string, err error, kind problem.Code, fetches int) {
	w.Helper()
	switch {
	case kind == problem.Internal && err != nil:
		w.Errorf("%s: %v", when, err)
	case kind != problem.Internal && problem.KindOf(err) != kind:
		w.Errorf("%s: %v", when, err)
	}
	if n := w.p.fetched(); n != fetches {
		w.Errorf("%s: fetched %d times, want %d", when, n, fetches)
	}
}

const good = problem.Internal // no error

func TestRotation(t *testing.T) {
	w := newWorld(t)
	w.want("first key", w.verify("first"), good, 1)
	w.p.add(t, "second", newEd25519(t), nil)
	w.want("new key, asked just now", w.verify("second"), problem.Unauthenticated, 1)
	w.clock.add(10 * time.Second)
	w.want("new key, 10 s later", w.verify("second"), good, 2)
	w.want("old key", w.verify("first"), good, 2)
}

func TestUnknownKeysAskTheIssuerAtMostEveryTenSeconds(t *testing.T) {
	w := newWorld(t)
	w.p.keys["unknown"] = newEd25519(t)
	for range 50 {
		w.want("unknown key", w.verify("unknown"), problem.Unauthenticated, 1)
	}
	w.clock.add(9 * time.Second)
	w.want("9 s later", w.verify("unknown"), problem.Unauthenticated, 1)
	w.clock.add(time.Second)
	w.want("10 s later", w.verify("unknown"), problem.Unauthenticated, 2)
}

// A flood of tokens with unknown keys, while the issuer hangs, keeps no token with a known key waiting.
func TestFloodOfUnknownKeysHoldsUpNoKnownKey(t *testing.T) {
	w := newWorld(t)
	w.want("before", w.verify("first"), good, 1)
	w.clock.add(10 * time.Second)
	stranger := newEd25519(t)
	tokens := make([]string, 100)
	for i := range tokens {
		kid := fmt.Sprint("unknown-", i)
		tokens[i] = sign(t, jwa.EdDSA(), stranger, map[string]any{"kid": kid}, claims(w.clock, map[string]any{"sub": kid}))
	}
	var flood sync.WaitGroup
	w.p.change(func() { // the issuer does not answer meanwhile
		for _, token := range tokens {
			flood.Go(func() {
				if _, err := w.v.Verify(t.Context(), token); problem.KindOf(err) != problem.Unauthenticated {
					t.Errorf("unknown key: %v", err)
				}
			})
		}
		for range 20 {
			if err := w.verify("first"); err != nil {
				t.Errorf("known key: %v", err)
			}
		}
	})
	flood.Wait()
	if n := w.p.fetched(); n > 2 {
		t.Errorf("fetched %d times, want one for all", n)
	}
}

func TestOutageKeepsKnownKeys(t *testing.T) {
	w := newWorld(t)
	w.want("before", w.verify("first"), good, 1)
	w.p.add(t, "second", newEd25519(t), nil)
	w.p.change(func() { w.p.down = true })
	w.clock.add(time.Hour)
	w.want("unknown key while down", w.verify("second"), problem.Unauthenticated, 2)
	w.want("known key while down", w.verify("first"), good, 2)
	w.p.change(func() { w.p.down = false })
	w.clock.add(10 * time.Second)
	w.want("after", w.verify("second"), good, 3)
}

func TestTokensAreNotRefusedWhenKeysNeverLoaded(t *testing.T) {
	w := newWorld(t)
	w.p.change(func() { w.p.down = true })
	w.want("down", w.verify("first"), problem.Unavailable, 1)
	if err := w.v.Ready(t.Context()); problem.KindOf(err) != problem.Unavailable ||
		!strings.Contains(err.Error(), "https://id.example") {
		t.Errorf("ready: %v", err)
	}
	w.p.change(func() { w.p.down = false })
	w.clock.add(10 * time.Second)
	if err := w.v.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}
	w.want("up", w.verify("first"), good, 2)
}

func TestEmptyKeySetChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.want("before", w.verify("first"), good, 1)
	w.p.change(func() { w.p.set = jwk.NewSet() })
	w.p.keys["unknown"] = newEd25519(t)
	w.clock.add(10 * time.Second)
	w.want("unknown key", w.verify("unknown"), problem.Unauthenticated, 2)
	w.want("known key", w.verify("first"), good, 2)
}

func TestKeySetOverItsLimitChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.want("before", w.verify("first"), good, 1)
	w.p.add(t, "second", newEd25519(t), nil)
	w.p.change(func() { w.p.raw = []any{strings.Repeat("x", 1<<20)} })
	w.clock.add(10 * time.Second)
	w.want("new key in a huge set", w.verify("second"), problem.Unauthenticated, 2)
	w.want("known key", w.verify("first"), good, 2)
}

// A key its issuer withdrew must stop being good, which Run sees to: known keys alone would never make the verifier ask
// again.
func TestWithdrawnKey(t *testing.T) {
	w := newWorld(t)
	w.want("before", w.verify("first"), good, 1)
	w.p.add(t, "second", newEd25519(t), nil)
	w.p.change(func() {
		k, _ := w.p.set.LookupKeyID("first")
		if err := w.p.set.RemoveKey(k); err != nil {
			t.Error(err)
		}
	})
	w.clock.add(4 * time.Minute)
	if err := w.v.Ready(t.Context()); err != nil { // does what a tick of Run does
		t.Error(err)
	}
	w.want("keys of 4 minutes are fresh", w.verify("first"), good, 1)
	w.clock.add(time.Minute)
	if err := w.v.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	w.want("withdrawn", w.verify("first"), problem.Unauthenticated, 2)
}

// Tokens that were verified are remembered for five minutes, not for their life.
func TestRememberedTokenOfAWithdrawnKey(t *testing.T) {
	w := newWorld(t)
	token := sign(t, jwa.EdDSA(), w.p.keys["first"], map[string]any{"kid": "first"}, claims(w.clock, nil))
	verify := func() error {
		_, err := w.v.Verify(t.Context(), token)
		return err
	}
	w.want("before", verify(), good, 1)
	w.p.add(t, "second", newEd25519(t), nil)
	w.p.change(func() {
		k, _ := w.p.set.LookupKeyID("first")
		if err := w.p.set.RemoveKey(k); err != nil {
			t.Error(err)
		}
	})
	w.clock.add(5*time.Minute - time.Second)
	w.want("remembered", verify(), good, 1)
	w.clock.add(time.Second)
	if err := w.v.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	w.want("forgotten", verify(), problem.Unauthenticated, 2)
}
