package keyfile

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/services/internal/platform/textfile"
)

const (
	// fromKey is the member of a key that says from when on it signs, in Unix seconds. It is not part of the standard.
	fromKey = "signs_from"
	// reloadEvery is how often the file is read again: replicas notice a new key within it.
	reloadEvery = 5 * time.Second
	// Lead is how long a new key is published before it signs. Verifiers read all keys every five minutes. In twice that
	// time every replica has the file, and every verifier has the key.
	Lead = 10 * time.Minute
	// MostTime is the longest time that a token may be valid.
	MostTime = 24 * time.Hour
	// Keep is how long a key stays published after it last signed: longer than any token is valid.
	Keep = MostTime + time.Hour
)

// Keys is private keys of an installation that sign tokens: a JSON Web Key Set in a file that all processes share which
// sign with them. They read it again while they run, so that keys can be rotated without a restart.
type Keys struct {
	path string
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	signers []signer
	checked time.Time
	version fileVersion
}

// signer is a key, and from when on it signs. raw is what signatures need of it: to take that out of the key costs as
// much as a signature.
type signer struct {
	from    time.Time
	private jwk.Key
	id      string
	raw     ed25519.PrivateKey
}

// fileVersion changes when the file does.
type fileVersion struct {
	changed time.Time
	size    int64
}

// Open reads the keys of a file that Rotate made.
func Open(path string, now func() time.Time, log *slog.Logger) (*Keys, error) {
	k := &Keys{path: path, now: now, log: log}
	k.checked = now()
	if err := k.reload(); err != nil {
		return nil, err
	}
	return k, nil
}

// reload reads the file if it has changed.
func (k *Keys) reload() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	version := fileVersion{info.ModTime(), info.Size()}
	if version == k.version {
		return nil
	}
	signers, err := readKeys(k.path)
	if err != nil {
		return err
	}
	k.signers, k.version = signers, version
	return nil
}

// latest returns the keys as they are now.
func (k *Keys) latest() []signer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); now.Sub(k.checked) >= reloadEvery {
		k.checked = now
		if err := k.reload(); err != nil {
			k.log.Warn("keys that sign tokens cannot be read again, the old ones stay in use", "file", k.path, "error", err)
		}
	}
	return k.signers
}

// current is the index of the key that signs now: the last one that signs already, or the first when none does.
func current(signers []signer, now time.Time) int {
	at := 0
	for i := range signers {
		if !signers[i].from.After(now) {
			at = i
		}
	}
	return at
}

// Current is the id of the key that signs now.
func (k *Keys) Current() string {
	signers := k.latest()
	return signers[current(signers, k.now())].id
}

// Sign signs a token with the key that signs now.
func (k *Keys) Sign(t jwt.Token) (string, error) {
	signers := k.latest()
	s := signers[current(signers, k.now())]
	headers := jws.NewHeaders()
	if err := headers.Set(jws.KeyIDKey, s.id); err != nil {
		return "", err
	}
	text, err := jwt.Sign(t, jwt.WithKey(jwa.EdDSA(), s.raw, jws.WithProtectedHeaders(headers)))
	return string(text), err
}

// Serve serves the public keys at a path. Clients may keep them for a minute, and ask again for an unknown key.
func (k *Keys) Serve(e *echo.Echo, path string) {
	e.GET(path, func(c echo.Context) error {
		text, err := k.Public()
		if err != nil {
			return err
		}
		c.Response().Header().Set(echo.HeaderCacheControl, "public, max-age=60")
		return c.Blob(http.StatusOK, "application/jwk-set+json", text)
	})
}

// Public is the public halves of all keys as a JSON Web Key Set. It includes keys that no longer sign, and those that
// do not sign yet.
func (k *Keys) Public() ([]byte, error) {
	var private []jwk.Key
	for _, s := range k.latest() {
		private = append(private, s.private)
	}
	return Public(private...)
}

// readKeys reads a file's keys, in the order in which they sign. Its errors do not quote the file.
func readKeys(path string) ([]signer, error) {
	text, err := textfile.Read(path)
	if err != nil {
		return nil, err
	}
	set, err := jwk.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no JSON Web Key Set", path)
	}
	var signers []signer
	for i := range set.Len() {
		private, _ := set.Key(i)
		var raw ed25519.PrivateKey
		kid, ok := private.KeyID()
		if err := jwk.Export(private, &raw); err != nil || !ok || kid == "" {
			return nil, fmt.Errorf("%s: key %d is no private Ed25519 key with an id", path, i)
		}
		var from float64
		if private.Has(fromKey) && private.Get(fromKey, &from) != nil {
			return nil, fmt.Errorf("%s: key %d: %s is no number", path, i, fromKey)
		}
		signers = append(signers, signer{from: time.Unix(int64(from), 0), private: private, id: kid, raw: raw})
	}
	if len(signers) == 0 {
		return nil, fmt.Errorf("%s has no key", path)
	}
	slices.SortStableFunc(signers, func(a, b signer) int { return a.from.Compare(b.from) })
	return signers, nil
}

// Rotate adds a key to a file, which signs after Lead, and removes the keys that stopped signing Keep ago. When there
// is no file, Rotate makes one with a key that signs at once. from is when the new key signs.
func Rotate(path string, now time.Time) (from time.Time, err error) {
	signers, err := readKeys(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		from = now
	case err != nil:
		return time.Time{}, err
	default:
		from = now.Add(Lead)
	}
	private, err := Generate()
	if err == nil {
		err = private.Set(fromKey, from.Unix())
	}
	if err != nil {
		return time.Time{}, err
	}
	signers = append(signers, signer{from: from, private: private})
	slices.SortStableFunc(signers, func(a, b signer) int { return a.from.Compare(b.from) })
	set := jwk.NewSet()
	for i, s := range signers {
		if i+1 < len(signers) && signers[i+1].from.Add(Keep).Before(now) {
			continue // all tokens that it signed have expired
		}
		if err := set.AddKey(s.private); err != nil {
			return time.Time{}, err
		}
	}
	text, err := json.MarshalIndent(set, "", "  ")
	if err != nil {
		return time.Time{}, err
	}
	return from, Replace(path, text, 0o600)
}
