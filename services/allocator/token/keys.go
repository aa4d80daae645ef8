package token

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwk"

	"matchmaker.dev/services/internal/keyfile"
)

const (
	// fromKey is the member of a key that says from when on it signs, in Unix seconds. Others ignore it.
	fromKey = "signs_from"
	// lookEvery is how often the file is looked at: replicas notice a new key within it.
	lookEvery = 5 * time.Second
	// Lead is how long a new key is published before it signs. Verifiers ask for unknown keys, and for all of them every
	// five minutes; in twice that time every replica has the file, and every verifier the key.
	Lead = 10 * time.Minute
	// MostTime is how long a token may be good.
	MostTime = 24 * time.Hour
	// Keep is how long a key stays published after it last signed: longer than any token is good.
	Keep = MostTime + time.Hour
)

// Keys is the private keys of an installation: a JSON Web Key Set in a file that all allocators share. It is looked at
// again while they run, so that a key can be changed without anyone stopping.
type Keys struct {
	path string
	now  func() time.Time
	log  *slog.Logger

	mu     sync.Mutex
	ring   []signer
	looked time.Time
	stamp  stamp
}

// signer is a key and when it signs.
type signer struct {
	from    time.Time
	private jwk.Key
}

// stamp tells one content of a file from the next.
type stamp struct {
	changed time.Time
	size    int64
}

// OpenKeys reads the keys of a file that Rotate made.
func OpenKeys(path string, now func() time.Time, log *slog.Logger) (*Keys, error) {
	k := &Keys{path: path, now: now, log: log}
	k.looked = now()
	if err := k.look(); err != nil {
		return nil, err
	}
	return k, nil
}

// look reads the file if it has changed.
func (k *Keys) look() error {
	info, err := os.Stat(k.path)
	if err != nil {
		return err
	}
	is := stamp{info.ModTime(), info.Size()}
	if is == k.stamp {
		return nil
	}
	ring, err := readKeys(k.path)
	if err != nil {
		return err
	}
	k.ring, k.stamp = ring, is
	return nil
}

// all is the keys there are now.
func (k *Keys) all() []signer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); now.Sub(k.looked) >= lookEvery {
		k.looked = now
		if err := k.look(); err != nil {
			k.log.Warn(
				"the keys of server tokens cannot be read again: the ones that are known stay", "file", k.path, "error", err,
			)
		}
	}
	return k.ring
}

// current is the key that signs now: the last of those whose time has come, or the first when none's has.
func current(ring []signer, now time.Time) int {
	at := 0
	for i := range ring {
		if !ring[i].from.After(now) {
			at = i
		}
	}
	return at
}

// Signing is the key that signs now.
func (k *Keys) Signing() jwk.Key {
	ring := k.all()
	return ring[current(ring, k.now())].private
}

// Public is the public halves of all keys, those that sign no more and those that do not sign yet among them, as a JSON
// Web Key Set.
func (k *Keys) Public() ([]byte, error) {
	var private []jwk.Key
	for _, s := range k.all() {
		private = append(private, s.private)
	}
	text, err := keyfile.Public(private...)
	if err != nil {
		return nil, fmt.Errorf("server tokens: %w", err)
	}
	return text, nil
}

// readKeys reads a file's keys, in the order in which they sign. Its errors hold nothing of what is in it.
func readKeys(path string) ([]signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set, err := jwk.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is no JSON Web Key Set", path)
	}
	var ring []signer
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
		ring = append(ring, signer{from: time.Unix(int64(from), 0), private: private})
	}
	if len(ring) == 0 {
		return nil, fmt.Errorf("%s has no key", path)
	}
	slices.SortStableFunc(ring, func(a, b signer) int { return a.from.Compare(b.from) })
	return ring, nil
}

// Rotate adds a key to a file, which signs after Lead, and takes away those that stopped signing Keep ago. A file that
// is not there is made, with a key that signs at once. from is when the new key signs.
func Rotate(path string, now time.Time) (from time.Time, err error) {
	ring, err := readKeys(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		from = now
	case err != nil:
		return time.Time{}, err
	default:
		from = now.Add(Lead)
	}
	private, err := generate(from)
	if err != nil {
		return time.Time{}, err
	}
	ring = append(ring, signer{from: from, private: private})
	slices.SortStableFunc(ring, func(a, b signer) int { return a.from.Compare(b.from) })
	set := jwk.NewSet()
	for i, s := range ring {
		if i+1 < len(ring) && ring[i+1].from.Add(Keep).Before(now) {
			continue // its successor signs for so long that no token of it is good any more
		}
		if err := set.AddKey(s.private); err != nil {
			return time.Time{}, err
		}
	}
	text, err := json.MarshalIndent(set, "", "  ")
	if err != nil {
		return time.Time{}, err
	}
	return from, keyfile.Replace(path, text, 0o600)
}

func generate(from time.Time) (jwk.Key, error) {
	key, err := keyfile.Generate()
	if err != nil {
		return nil, err
	}
	return key, key.Set(fromKey, from.Unix())
}
