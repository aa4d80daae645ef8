package issuer

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"testing"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jws"
)

// BenchmarkVerify is why the tokens are signed with Ed25519 or not: it compares the signatures that the service accepts
// and a small key can make.
func BenchmarkVerify(b *testing.B) {
	claims := []byte(`{"iss":"matchmaker-dev","aud":["matchmaker"],"sub":"player-1","iat":1,"nbf":1,"exp":2,"jti":"x","kind":"player","project":"demo"}`)
	edPublic, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	ecPrivate, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct {
		alg             jwa.SignatureAlgorithm
		private, public any
	}{
		{jwa.EdDSA(), edPrivate, edPublic},
		{jwa.ES256(), ecPrivate, &ecPrivate.PublicKey},
	} {
		token, err := jws.Sign(claims, jws.WithKey(tt.alg, tt.private))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(tt.alg.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := jws.Verify(token, jws.WithKey(tt.alg, tt.public)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
