package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
)

const (
	fetchTimeout = 3 * time.Second
	// loadEvery bounds how often an issuer is asked, however many tokens with unknown keys arrive.
	loadEvery = 10 * time.Second
	// refreshEvery is how long a key that its issuer withdrew stays good.
	refreshEvery = 5 * time.Minute
	maxKeySet    = 1 << 20 // bytes; what is cut there is no JSON any more
)

// key is a public key with the algorithms it may be used with, so that no token can use a public key as an HMAC secret.
type key struct {
	public any
	algs   []string
}

// keySet holds an issuer's keys by their ids. A load that fails keeps the loaded keys: tokens with known keys stay good
// while an issuer is down.
type keySet struct {
	issuer, source string
	get            func() ([]byte, error) // nil: the source is to be read
	client         *http.Client
	asked          metric.Int64Counter
	now            func() time.Time
	log            *slog.Logger

	keys atomic.Pointer[map[string]key] // nil until loaded once

	mu        sync.Mutex // held while loading: others wait for that load's outcome
	attempted time.Time
	loaded    time.Time
}

func newKeySet(i Issuer, o Options, asked metric.Int64Counter) *keySet {
	return &keySet{issuer: i.Issuer, source: i.JWKS, get: i.Source,
		client: &http.Client{Timeout: fetchTimeout, Transport: transport(o.Now)}, now: o.Now, log: o.Log, asked: asked}
}

// find returns the key of an id, asking the issuer when it is not known.
func (s *keySet) find(ctx context.Context, kid string) (key, error) {
	if k, ok := s.cached(kid); ok {
		return k, nil
	}
	s.load(ctx, 0)
	if k, ok := s.cached(kid); ok {
		return k, nil
	}
	if s.keys.Load() == nil {
		return key{}, problem.New(problem.Unavailable, "the keys to verify this token are not available").After(loadEvery)
	}
	return key{}, refuse("the token is signed with an unknown key")
}

func (s *keySet) cached(kid string) (key, bool) {
	keys := s.keys.Load()
	if keys == nil {
		return key{}, false
	}
	k, ok := (*keys)[kid]
	return k, ok
}

// load asks the issuer, unless that was done within loadEvery or the keys are younger than maxAge. A caller that gives
// up does not spoil it for the others.
func (s *keySet) load(ctx context.Context, maxAge time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !s.attempted.IsZero() && now.Sub(s.attempted) < loadEvery {
		return
	}
	if maxAge > 0 && !s.loaded.IsZero() && now.Sub(s.loaded) < maxAge {
		return
	}
	s.attempted = now
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
	defer cancel()
	keys, err := s.fetch(ctx)
	s.count(ctx, err)
	if err != nil {
		s.log.WarnContext(ctx, "keys of an issuer not loaded", "issuer", s.issuer, "jwks", s.source, "known",
			s.keys.Load() != nil, "error", err)
		return
	}
	s.loaded = now
	s.keys.Store(&keys)
}

// count counts a question to the issuer.
func (s *keySet) count(ctx context.Context, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	s.asked.Add(ctx, 1, telemetry.WithLabels([]attribute.KeyValue{
		attribute.String("issuer", s.issuer), attribute.String("outcome", outcome),
	}))
}

func (s *keySet) fetch(ctx context.Context) (map[string]key, error) {
	text, err := s.read(ctx)
	if err == nil {
		text, err = document.Text(text)
	}
	if err != nil {
		return nil, err
	}
	set, err := jwk.Parse(text, jwk.WithIgnoreParseError(true))
	if err != nil {
		return nil, fmt.Errorf("not a key set: %w", err)
	}
	keys := map[string]key{}
	for n := range set.Len() {
		k, _ := set.Key(n)
		kid, ok := k.KeyID()
		if _, twice := keys[kid]; !ok || twice {
			continue
		}
		if usable, ok := keyOf(k); ok {
			keys[kid] = usable
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set has no usable key: one with a kid, for signatures by RS, PS or ES with 256, " +
			"384 or 512, EdDSA or Ed25519")
	}
	return keys, nil
}

func (s *keySet) read(ctx context.Context) ([]byte, error) {
	if s.get != nil {
		return s.get()
	}
	if !strings.Contains(s.source, "://") {
		file, err := os.Open(s.source)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(io.LimitReader(file, maxKeySet))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.source, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answered %s", res.Status)
	}
	return io.ReadAll(io.LimitReader(res.Body, maxKeySet))
}

// keyOf takes public keys for signatures of the allowed algorithms, and refuses the rest. Short RSA keys and points off
// their curve are refused by package jwk. Ed25519 is the name of RFC 9864 for what EdDSA does with such a key.
func keyOf(k jwk.Key) (key, bool) {
	if use, given := k.KeyUsage(); given && use != string(jwk.ForSignature) {
		return key{}, false
	}
	if ops, given := k.KeyOps(); given && !slices.Contains(ops, jwk.KeyOpVerify) {
		return key{}, false
	}
	var raw any
	if k.Validate() != nil || jwk.Export(k, &raw) != nil {
		return key{}, false
	}
	usable := key{public: raw}
	switch public := raw.(type) {
	case *rsa.PublicKey:
		usable.algs = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case *ecdsa.PublicKey:
		usable.algs = map[elliptic.Curve][]string{elliptic.P256(): {"ES256"}, elliptic.P384(): {"ES384"},
			elliptic.P521(): {"ES512"}}[public.Curve]
	case ed25519.PublicKey:
		usable.algs = []string{"EdDSA", "Ed25519"}
	}
	// Of Ed25519's two names either stands for both.
	if alg, given := k.Algorithm(); given && (usable.algs == nil || usable.algs[0] != "EdDSA" ||
		!slices.Contains(usable.algs, alg.String())) {
		usable.algs = slices.DeleteFunc(usable.algs, func(a string) bool { return a != alg.String() })
	}
	return usable, len(usable.algs) > 0
}
