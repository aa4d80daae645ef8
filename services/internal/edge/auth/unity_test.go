package auth_test

import (
	"testing"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"matchmaker.dev/services/internal/edge/auth"
)

// TestUnityPlayers: Unity Authentication can be trusted by settings alone, as the README has them.
//
// The layout of its player tokens is from three public sources. Its support says what the claims mean and that the
// keys, iss and aud are to be checked (support.unity.com, article 44608153508884, "What do Unity Authentication JWT
// claims mean"); its API reference has the key set at https://player-auth.services.api.unity.com/.well-known/jwks.json,
// of RSA keys for RS256 ("Player Authentication JWKS API"); and class AccessToken of the Unity package
// com.unity.services.authentication has the types: aud is a list, from which the package takes the environment as the
// entry "envId:…", and scp is one too. The keys here are the test's own.
func TestUnityPlayers(t *testing.T) {
	const (
		project = "3f735ce7-0797-4b51-98c9-e7abfcb3b585"
		another = "b3e96b7f-8284-47ea-bec0-90e51607c3b9"
		player  = "pQ8Lh98ElfZkLJzO2jDuOgHbk26G" // 28 letters and digits
	)
	c, p := newClock(), newProvider(t)
	const kid = "public:3f1a9c1e-7c1b-4b7e-8f86-1d8f0a6c2e11"
	p.add(t, kid, newRSA(t, 2048), map[string]any{jwk.AlgorithmKey: jwa.RS256(), jwk.KeyUsageKey: jwk.ForSignature})
	v := newVerifier(t, c, auth.Issuer{
		Issuer: "https://player-auth.services.api.unity.com", JWKS: p.url,
		Audiences: []string{"upid:" + project}, Kinds: []auth.Kind{auth.Player},
		Claims: auth.Claims{Project: "project_id"},
	})
	token := func(project string) string {
		at := c.now().Unix()
		return sign(t, jwa.RS256(), p.keys[kid], map[string]any{"kid": kid, "typ": "JWT"}, map[string]any{
			"iss": "https://player-auth.services.api.unity.com", "sub": player,
			"aud": []string{"idd:7a1c7ee5-0b3b-4b6b-9f0e-2b7e2b7f6f0f", "envName:production",
				"envId:1d8f0a6c-2e11-4b7e-8f86-3f1a9c1e7c1b", "upid:" + project},
			"idd": "7a1c7ee5-0b3b-4b6b-9f0e-2b7e2b7f6f0f", "project_id": project,
			"iat": at, "nbf": at, "exp": at + 3600, "jti": "0d6c2e11-8f86-4b7e-7c1b-3f1a9c1e1d8f",
			"sign_in_provider": "anonymous", "token_type": "authentication", "scp": []string{}, "version": "1",
		})
	}
	got, err := v.Verify(t.Context(), token(project))
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != auth.Player || got.Subject != player || !got.MayUseProject(project) || got.MayUseProject(another) {
		t.Errorf("got %+v", got)
	}
	if owner, err := auth.TicketOwner(got, player, true); err != nil || owner != player {
		t.Errorf("its ticket is of %q, %v", owner, err)
	}
	wantRefused(t, v, token(another), "the token is for another audience")
}
