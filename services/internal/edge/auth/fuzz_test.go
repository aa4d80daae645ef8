package auth_test

import (
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lestrrat-go/jwx/v3/jwa"

	"matchmaker.dev/services/internal/edge/problem"
)

// FuzzVerify: whatever says something else than the one token that the issuer signed is refused as Unauthenticated.
func FuzzVerify(f *testing.F) {
	// Every process of the fuzzer must have the same key.
	c, signer := newClock(), ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	path := filepath.Join(f.TempDir(), "jwks.json")
	text, err := json.Marshal(setOf(f, "key", signer))
	if err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		f.Fatal(err)
	}
	v := newVerifier(f, c, settings(path))
	good := sign(f, jwa.EdDSA(), signer, map[string]any{"kid": "key"}, claims(c, nil))
	if _, err := v.Verify(f.Context(), good); err != nil {
		f.Fatal(err)
	}
	forged := sign(f, jwa.EdDSA(), newEd25519(f), map[string]any{"kid": "key"},
		claims(c, map[string]any{"sub": "player-2"}))
	parts := strings.Split(good, ".")
	signed := parts[0] + "." + parts[1] + "."
	for _, seed := range []string{
		good, forged, "", "..", signed, good + "=", signed + "A" + parts[2], parts[0] + "." + parts[0] + "." + parts[2],
		"eyJhbGciOiJub25lIiwia2lkIjoia2V5In0." + parts[1] + ".", // alg none
		`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := v.Verify(t.Context(), token)
		switch {
		case err == nil && !strings.HasPrefix(token, signed):
			t.Fatalf("%q is taken for %+v", token, p)
		case err != nil && (token == good || problem.KindOf(err) != problem.Unauthenticated):
			t.Fatalf("%q: %v", token, err)
		}
	})
}
