// Package issuer issues the tokens of an installation that has no identity provider yet: one on a developer's machine.
// Its key pair lives in a folder, so that the server, the command line and tests on the machine share it.
package issuer

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/platform/keyfile"
)

// What the tokens name.
const (
	Name     = "matchmaker-dev" // iss
	Audience = "matchmaker"     // aud
)

// defaultTTL is how long a token is good when its claims do not say.
const defaultTTL = time.Hour

const (
	privateFile = "issuer.jwk" // mode 0600
	publicFile  = "jwks.json"
)

// Issuer signs tokens with the key pair of a folder.
type Issuer struct {
	dir     string
	now     func() time.Time
	private jwk.Key
	public  []byte // JWKS
}

// Claims are what a token says of its bearer.
type Claims struct {
	Kind    auth.Kind
	Subject string
	Project string
	Role    string // of developers: Manager, Owner or Support
	Scope   string // of services: matchmaking or matchmaking.read
	TTL     time.Duration
	// Further are more claims, by their paths: game.skill is skill in the object game. Values are as for package json.
	Further map[string]any
}

// Open reads the folder's key pair, and makes folder and pair when there are none. Processes may open the same folder
// at the same time: all get one pair.
func Open(dir string, now func() time.Time) (*Issuer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	private, err := load(filepath.Join(dir, privateFile))
	if errors.Is(err, fs.ErrNotExist) {
		private, err = create(filepath.Join(dir, privateFile))
	}
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	public, err := keyfile.Public(private)
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	if err := keyfile.Replace(filepath.Join(dir, publicFile), public, 0o644); err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	return &Issuer{dir: dir, now: now, private: private, public: public}, nil
}

// Mint returns a signed token.
func (i *Issuer) Mint(c Claims) (string, error) {
	c.TTL = cmp.Or(c.TTL, defaultTTL)
	now := i.now()
	b := jwt.NewBuilder().
		Issuer(Name).Audience([]string{Audience}).Subject(c.Subject).JwtID(rand.Text()).
		IssuedAt(now).NotBefore(now).Expiration(now.Add(c.TTL)).
		Claim("kind", string(c.Kind)).Claim("project", c.Project)
	if c.Role != "" {
		b = b.Claim("role", c.Role)
	}
	if c.Scope != "" {
		b = b.Claim("scope", c.Scope)
	}
	more, err := nest(c.Further)
	if err != nil {
		return "", err
	}
	for name, value := range more {
		b = b.Claim(name, value)
	}
	token, err := b.Build()
	if err != nil {
		return "", fmt.Errorf("issuer: %w", err)
	}
	signed, err := jwt.Sign(token, jwt.WithKey(jwa.EdDSA(), i.private))
	if err != nil {
		return "", fmt.Errorf("issuer: %w", err)
	}
	return string(signed), nil
}

// own are the claims that the issuer sets by itself.
var own = []string{"iss", "aud", "sub", "jti", "iat", "nbf", "exp", "kind", "project", "role", "scope"}

// nest makes objects of paths.
func nest(further map[string]any) (map[string]any, error) {
	top := map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(further)) { // so that the same error comes each time
		names := strings.Split(path, ".")
		if slices.Contains(names, "") || slices.Contains(own, names[0]) {
			return nil, fmt.Errorf("issuer: claim %q: a name is empty, or the issuer sets it itself", path)
		}
		object, last := top, len(names)-1
		for _, name := range names[:last] {
			if object[name] == nil {
				object[name] = map[string]any{}
			}
			inner, ok := object[name].(map[string]any)
			if !ok {
				return nil, fmt.Errorf("issuer: claim %q: %s is a value already", path, name)
			}
			object = inner
		}
		object[names[last]] = further[path]
	}
	return top, nil
}

// Routes serves the public half where identity providers do.
func (i *Issuer) Routes(e *echo.Echo) {
	e.GET("/.well-known/jwks.json", func(c echo.Context) error {
		return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, i.public)
	})
}

// Trust is the setting that makes a verifier on this machine take the tokens.
func (i *Issuer) Trust() auth.Issuer {
	return auth.Issuer{
		Issuer:    Name,
		JWKS:      filepath.Join(i.dir, publicFile),
		Audiences: []string{Audience},
		Kinds:     auth.Kinds(),
		Claims:    auth.Claims{Kind: "kind", Project: "project", Role: "role", Scope: "scope"},
	}
}

func load(path string) (jwk.Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := jwk.ParseKey(text)
	if err != nil {
		// Not wrapped: a parser's error may show what it could not parse.
		return nil, fmt.Errorf("%s holds no key; remove it to get a new one", path)
	}
	return key, nil
}

// create makes the key and puts it in place in one step. When another process was first, its key is the one.
func create(path string) (jwk.Key, error) {
	key, err := keyfile.Generate()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(key)
	if err != nil {
		return nil, err
	}
	if err := keyfile.Create(path, text, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return load(path)
}
