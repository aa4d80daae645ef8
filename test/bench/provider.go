package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/keyfile"
)

// provider signs tokens by an algorithm of identity providers.
type provider struct {
	algorithm jwa.SignatureAlgorithm
	key       jwk.Key
}

// providers are made once: a key of RSA takes its time.
var providers = sync.OnceValues(func() ([]*provider, error) {
	first, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	second, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	var all []*provider
	for _, one := range []struct {
		algorithm jwa.SignatureAlgorithm
		key       any
	}{{jwa.RS256(), first}, {jwa.ES256(), second}} {
		key, err := jwk.Import(one.key)
		if err == nil {
			err = key.Set(jwk.KeyIDKey, "one")
		}
		if err != nil {
			return nil, err
		}
		all = append(all, &provider{one.algorithm, key})
	}
	return all, nil
})

// trust puts the keys of all providers into a folder.
func trust(dir string) ([]auth.Issuer, error) {
	all, err := providers()
	if err != nil {
		return nil, err
	}
	issuers := make([]auth.Issuer, len(all))
	for n, p := range all {
		issuers[n] = auth.Issuer{Issuer: p.name(), JWKS: filepath.Join(dir, p.name()+".json"),
			Audiences: []string{issuer.Audience}, Kinds: []auth.Kind{auth.Player}, Claims: auth.Claims{Project: "project"}}
		text, err := keyfile.Public(p.key)
		if err == nil {
			err = os.WriteFile(issuers[n].JWKS, text, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	return issuers, nil
}

func (p *provider) name() string { return "bench-" + p.algorithm.String() }

// mint makes tokens of so many players.
func (p *provider) mint(project string, n int) ([]string, error) {
	tokens, workers := make([]string, n), runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for k := worker; k < n && errs[worker] == nil; k += workers {
				tokens[k], errs[worker] = p.sign(project, fmt.Sprintf("player-%d", k))
			}
		})
	}
	all.Wait()
	return tokens, first(errs)
}

func (p *provider) sign(project, player string) (string, error) {
	now := time.Now()
	token, err := jwt.NewBuilder().Issuer(p.name()).Audience([]string{issuer.Audience}).Subject(player).
		JwtID(rand.Text()).IssuedAt(now).NotBefore(now).Expiration(now.Add(tokenTime)).Claim("project", project).Build()
	if err != nil {
		return "", err
	}
	text, err := jwt.Sign(token, jwt.WithKey(p.algorithm, p.key))
	return string(text), err
}
