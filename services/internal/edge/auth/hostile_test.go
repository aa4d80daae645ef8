package auth_test

import (
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"matchmaker.dev/services/internal/edge/auth"
)

func segment(v any) string {
	text, _ := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(text)
}

func TestHostileTokens(t *testing.T) {
	c, p := newClock(), newProvider(t)
	ed, ec, rsaKey := newEd25519(t), newECDSA(t, elliptic.P256()), newRSA(t, 2048)
	p.add(t, "ed", ed, nil)
	p.add(t, "ec", ec, nil)
	p.add(t, "rsa", rsaKey, nil)
	p.add(t, "rsa-ps", rsaKey, map[string]any{jwk.AlgorithmKey: jwa.PS256()})
	weak := newRSA(t, 1024)
	p.raw = []any{
		map[string]any{"kty": "RSA", "kid": "weak", "e": "AQAB", "n": base64.RawURLEncoding.EncodeToString(weak.N.Bytes())},
		map[string]any{"kty": "EC", "kid": "off-curve", "crv": "P-256",
			"x": base64.RawURLEncoding.EncodeToString(make([]byte, 32)),
			"y": base64.RawURLEncoding.EncodeToString(make([]byte, 32))},
		map[string]any{"kty": "future", "kid": "unknown-type"},
		"no key at all",
	}
	p.add(t, "enc", newRSA(t, 2048), map[string]any{jwk.KeyUsageKey: jwk.ForEncryption})
	p.add(t, "no-verify", newEd25519(t), map[string]any{jwk.KeyOpsKey: jwk.KeyOperationList{jwk.KeyOpSign}})
	secret, err := jwk.Import([]byte("a shared secret of at least 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	p.change(func() { p.put(t, "oct", secret, nil) })
	v := newVerifier(t, c, settings(p.url))

	other := settings(p.url)
	other.Issuer, other.Kinds, other.Claims.Kind = "https://servers.example", []auth.Kind{auth.Server}, ""
	two := newVerifier(t, c, settings(newProvider(t).url), other)

	der, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	embedded, err := jwk.Import(newEd25519(t).Public())
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, jwa.EdDSA(), ed, map[string]any{"kid": "ed"}, claims(c, nil))
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	with := func(over map[string]any) string {
		return sign(t, jwa.EdDSA(), ed, map[string]any{"kid": "ed"}, claims(c, over))
	}
	at := c.now().Unix()
	dashed := good
	for i := 0; !strings.ContainsAny(dashed[strings.LastIndexByte(dashed, '.'):], "-_"); i++ {
		dashed = with(map[string]any{"jti": strconv.Itoa(i)})
	}

	const (
		notJWT    = "the token is not a signed JWT"
		badKey    = "the token is signed with an unknown key"
		badAlg    = "the token's algorithm is not allowed with its key"
		badSig    = "the token's signature is wrong"
		expired   = "the token has expired"
		tooEarly  = "the token is not valid yet"
		noExpiry  = "the token never expires"
		otherAud  = "the token is for another audience"
		untrusted = "the token's issuer is not trusted"
		noClaims  = "the token has no claims"
		noTime    = "the token's times are no seconds since 1970"
		twice     = "the token has the same claim twice"
		tooDeep   = "the token's claims lie too deep in each other"
	)
	const header = `{"alg":"EdDSA","kid":"ed"}`
	text, err := json.Marshal(claims(c, nil))
	if err != nil {
		t.Fatal(err)
	}
	claimsText := strings.TrimSuffix(string(text), "}")
	raw := func(header, claims string) string {
		signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
			base64.RawURLEncoding.EncodeToString([]byte(claims))
		return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(ed, []byte(signed)))
	}
	if _, err := v.Verify(t.Context(), raw(header, claimsText+`,"same":{"sub":1},"list":[1,1,"a","a"]}`)); err != nil {
		t.Errorf("the same name in several objects: %v", err)
	}
	for name, tt := range map[string]struct{ token, reason string }{
		"empty":      {"", notJWT},
		"garbage":    {"garbage", notJWT},
		"dots":       {"..", notJWT},
		"too long":   {strings.Repeat("a", 16<<10+1), "the token is too long"},
		"a megabyte": {strings.Repeat("a", 1<<20), "the token is too long"},
		"truncated":  {good[:len(good)-10], badSig},
		"signature with bits that belong to no byte": {good[:len(good)-1] + string(good[len(good)-1]+1), notJWT},
		"signature in another alphabet":              {strings.NewReplacer("-", "+", "_", "/").Replace(dashed), notJWT},
		"without its signature":                      {head + "." + body + ".", notJWT},
		"two segments":                               {head + "." + body, notJWT},
		"four segments":                              {good + ".x", notJWT},
		"JSON serialization": {`{"payload":"` + body + `","signatures":[{"protected":"` + head + `","signature":"` +
			signature + `"}]}`, notJWT},
		"encrypted (5 segments)": {head + ".a.b.c.d", notJWT},
		"changed claims": {head + "." + segment(claims(c, map[string]any{"sub": "player-2"})) + "." + signature,
			badSig},
		"claims that are no object": {head + "." + segment([]int{1}) + "." + signature, noClaims},
		"alg none":                  {segment(map[string]any{"alg": "none", "kid": "ed"}) + "." + body + ".", notJWT},
		"alg none, signed":          {raw(`{"alg":"none","kid":"ed"}`, claimsText+`}`), badAlg},
		"alg None":                  {raw(`{"alg":"None","kid":"ed"}`, claimsText+`}`), badAlg},
		"alg missing":               {segment(map[string]any{"kid": "ed"}) + "." + body + "." + signature, badAlg},
		"alg of another key": {segment(map[string]any{"alg": "ES256", "kid": "ed"}) + "." + body + "." + signature,
			badAlg},
		"alg against the key's own": {sign(t, jwa.RS256(), rsaKey, map[string]any{"kid": "rsa-ps"}, claims(c, nil)), badAlg},
		"HMAC, public key as PEM":   {sign(t, jwa.HS256(), publicPEM, map[string]any{"kid": "rsa"}, claims(c, nil)), badAlg},
		"HMAC, public key as DER":   {sign(t, jwa.HS256(), der, map[string]any{"kid": "rsa"}, claims(c, nil)), badAlg},
		"HMAC, Ed25519 public key": {sign(t, jwa.HS256(), []byte(ed.Public().(ed25519.PublicKey)),
			map[string]any{"kid": "ed"}, claims(c, nil)), badAlg},
		"HMAC, key in the set": {sign(t, jwa.HS256(), []byte("a shared secret of at least 32 bytes"),
			map[string]any{"kid": "oct"}, claims(c, nil)), badKey},
		"kid missing":        {sign(t, jwa.EdDSA(), ed, nil, claims(c, nil)), "the token does not name its key"},
		"kid unknown":        {sign(t, jwa.EdDSA(), ed, map[string]any{"kid": "x"}, claims(c, nil)), badKey},
		"kid of another key": {sign(t, jwa.EdDSA(), newEd25519(t), map[string]any{"kid": "ed"}, claims(c, nil)), badSig},
		"kid as a path":      {sign(t, jwa.EdDSA(), ed, map[string]any{"kid": "../../dev/null"}, claims(c, nil)), badKey},
		"key brought along": {sign(t, jwa.EdDSA(), newEd25519(t), map[string]any{"kid": "mine", "jwk": embedded},
			claims(c, nil)), badKey},
		"key set brought along": {sign(t, jwa.EdDSA(), newEd25519(t), map[string]any{"kid": "mine", "jku": "https://evil.example"}, claims(c, nil)), badKey},
		"key too weak": {segment(map[string]any{"alg": "RS256", "kid": "weak"}) + "." + body + "." + signature,
			badKey},
		"key off its curve": {segment(map[string]any{"alg": "ES256", "kid": "off-curve"}) + "." + body + "." + signature,
			badKey},
		"key for encryption": {sign(t, jwa.RS256(), p.keys["enc"], map[string]any{"kid": "enc"}, claims(c, nil)), badKey},
		"key not for verifying": {sign(t, jwa.EdDSA(), p.keys["no-verify"], map[string]any{"kid": "no-verify"},
			claims(c, nil)), badKey},
		"critical extension": {sign(t, jwa.EdDSA(), ed, map[string]any{"kid": "ed", "crit": []string{"x"}, "x": 1},
			claims(c, nil)), "the token has critical extensions, and none is understood"},
		"expired":                         {with(map[string]any{"exp": at - 31}), expired},
		"exp missing":                     {with(map[string]any{"exp": nil}), noExpiry},
		"exp null":                        {raw(header, `{"iss":"https://id.example","exp":null}`), noTime},
		"exp a word":                      {with(map[string]any{"exp": "never"}), noTime},
		"exp a text":                      {with(map[string]any{"exp": strconv.FormatInt(at+60, 10)}), noTime},
		"exp a list":                      {with(map[string]any{"exp": []int64{at + 60}}), noTime},
		"exp beyond any number":           {with(map[string]any{"exp": json.Number("1e400")}), noTime},
		"exp that a float64 rounds":       {with(map[string]any{"exp": int64(1<<53 + 1)}), noTime},
		"exp minus nothing":               {with(map[string]any{"exp": json.Number("-0")}), expired},
		"exp half a second ago":           {with(map[string]any{"exp": float64(at) - 30.5}), expired},
		"nbf a text":                      {with(map[string]any{"nbf": strconv.FormatInt(at, 10)}), noTime},
		"iat a text":                      {with(map[string]any{"iat": time.Unix(at, 0).Format(time.RFC3339)}), noTime},
		"a claim twice":                   {raw(header, claimsText+`,"sub":"player-2"}`), twice},
		"a claim twice, one escaped":      {raw(header, claimsText+`,"s\u0075b":"player-2"}`), twice},
		"a claim twice, inside":           {raw(header, claimsText+`,"org":{"role":"a","x":[{"y":1,"y":2}]}}`), twice},
		"a member of the header twice":    {raw(`{"alg":"none","kid":"ed","alg":"EdDSA"}`, claimsText+`}`), twice},
		"claims that are a deep tree":     {raw(header, claimsText+`,"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}`), tooDeep},
		"claims that go on after the end": {raw(header, claimsText+`}{}`), noClaims},
		"nbf in the future":               {with(map[string]any{"nbf": at + 31}), tooEarly},
		"iat in the future":               {with(map[string]any{"iat": at + 31}), tooEarly},
		"audience missing":                {with(map[string]any{"aud": nil}), otherAud},
		"audience another":                {with(map[string]any{"aud": "shop"}), otherAud},
		"audience by prefix":              {with(map[string]any{"aud": "matchmaker2"}), otherAud},
		"audience a number":               {with(map[string]any{"aud": 7}), otherAud},
		"audience an object":              {with(map[string]any{"aud": map[string]any{"matchmaker": 1}}), otherAud},
		"audience that lists no text":     {with(map[string]any{"aud": []any{7, nil, []string{"matchmaker"}}}), otherAud},
		"issuer missing":                  {with(map[string]any{"iss": nil}), untrusted},
		"issuer another":                  {with(map[string]any{"iss": "https://evil.example"}), untrusted},
		"issuer with a slash":             {with(map[string]any{"iss": "https://id.example/"}), untrusted},
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, v, tt.token, tt.reason)
			wantRefused(t, v, tt.token, tt.reason) // and no cache makes it better
		})
	}
	if _, err := v.Verify(t.Context(), good); err != nil {
		t.Errorf("the good one: %v", err)
	}

	t.Run("an issuer's keys are not another's", func(t *testing.T) {
		p2 := newProvider(t)
		p2.add(t, "ed", newEd25519(t), nil)
		v := newVerifier(t, c, settings(p2.url), other)
		wantRefused(t, v, good, badSig)
	})
	t.Run("an issuer's kinds are not another's", func(t *testing.T) {
		token := with(map[string]any{"iss": other.Issuer})
		got, err := two.Verify(t.Context(), token)
		if err != nil || got.Kind != auth.Server {
			t.Errorf("got %+v, %v: the kind is the issuer's, whatever the token says", got, err)
		}
	})
}

func TestClockSkew(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	v := newVerifier(t, c, settings(p.url))
	at := c.now().Unix()
	for name, over := range map[string]map[string]any{
		"just expired":         {"exp": at - 29},
		"issuer runs ahead":    {"nbf": at + 29, "iat": at + 29},
		"far, by its exponent": {"exp": json.Number("1e10")},
		"the largest":          {"exp": int64(1<<53 - 1)},
		"fractions":            {"exp": float64(at) - 28.5, "nbf": float64(at) + 29.5, "iat": float64(at) + 0.5},
	} {
		token := sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, over))
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A token is good until it expires, and a cached one not a moment longer.
func TestCacheEndsWithTheToken(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	v := newVerifier(t, c, settings(p.url))
	token := sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"},
		claims(c, map[string]any{"exp": c.now().Unix() + 60}))
	for range 3 {
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		c.add(29 * time.Second)
	}
	c.add(4 * time.Second) // 91 s: past the expiry and the skew
	wantRefused(t, v, token, "the token has expired")
}
