// Package keyring encrypts what must not be readable where it is stored: the hosting keys of configs. What Redis, its
// append-only file and its backups hold is of no use without the keys, which are somewhere else. Beacons sign their
// receipts with keys that are derived from such a file.
//
// Keys come from a file, or from an environment variable, one a line:
//
//	# an id, a space, 32 bytes in Base64
//	2026-11 m6v3yJq0m0cB8tTq0nq5s2bVg7p1s3q9u0u8o1v6w4E=
//	2025-04 …
//
// The first key encrypts, all of them decrypt. To change keys, put a new line first, give the file to all processes,
// have what was encrypted with older keys written again (matchmaker keys reseal), and then take the old lines away. A
// file is read again when that helps: a process need not be started anew.
package keyring

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"matchmaker.dev/services/internal/platform/account"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/platform/textfile"
)

const (
	// keySize is the key size of AES-256, in bytes.
	keySize = 32
	// maxID bounds the ids of keys, in bytes.
	maxID = 64
	// version is the first byte of everything that is sealed.
	version = 1
	// rereadEvery bounds how often the source is read for a key that is not there.
	rereadEvery = 5 * time.Second
)

// ErrNoKey means that what was sealed needs a key that is not in the ring.
var ErrNoKey = errors.New("it was encrypted with a key that is not among the keys")

// Ring is the keys of a source. It is safe for concurrent use.
type Ring struct {
	source string
	now    func() time.Time

	mu    sync.Mutex
	keys  keys
	tried time.Time // when the source was last read again for a key that was not there
}

// keys are in the order of the source.
type keys []key

type key struct {
	id   string
	raw  []byte
	aead cipher.AEAD
}

// Open reads the keys of a source: the path of a file, or env: and the name of an environment variable.
func Open(source string, now func() time.Time) (*Ring, error) {
	r := &Ring{source: source, now: now}
	var err error
	if r.keys, err = r.read(); err != nil {
		return nil, err
	}
	return r, nil
}

// read reads the source. Its errors tell lines by their numbers: what is in them may be keys.
func (r *Ring) read() (keys, error) {
	text, err := account.Secret(r.source)
	if err != nil {
		return nil, err
	}
	ring, err := parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.source, err)
	}
	return ring, nil
}

// InEnvironment reports whether a source is an environment variable.
func InEnvironment(source string) bool { return strings.HasPrefix(source, "env:") }

func parse(text []byte) (keys, error) {
	var ring keys
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 || len(words[0]) > maxID || !printable(words[0]) {
			return nil, fmt.Errorf("line %d: an id of at most %d characters, a space and a key are expected", n, maxID)
		}
		raw, err := base64.StdEncoding.DecodeString(words[1])
		if err != nil || len(raw) != keySize {
			return nil, fmt.Errorf("line %d: a key is %d bytes in Base64", n, keySize)
		}
		if ring.find(words[0]) != nil {
			return nil, fmt.Errorf("line %d: the id %s is used twice", n, words[0])
		}
		aead, err := gcm(raw)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		ring = append(ring, key{id: words[0], raw: raw, aead: aead})
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(ring) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return ring, nil
}

func printable(id string) bool {
	return !strings.ContainsFunc(id, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) })
}

func gcm(raw []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (k keys) find(id string) *key {
	for i := range k {
		if k[i].id == id {
			return &k[i]
		}
	}
	return nil
}

// Seal encrypts a text with the first key. about names the owner: the text opens for it alone, so that one owner's
// secret cannot be stored as another's. Sealing is rare, so the source is read each time: a key that was put first is
// used from then on.
func (r *Ring) Seal(plain []byte, about string) ([]byte, error) {
	fresh, err := r.read()
	r.mu.Lock()
	if err == nil {
		r.keys = fresh
	}
	first := r.keys[0]
	r.mu.Unlock()
	nonce := make([]byte, first.aead.NonceSize())
	rand.Read(nonce)
	sealed := append([]byte{version, byte(len(first.id))}, first.id...)
	sealed = append(sealed, nonce...)
	return first.aead.Seal(sealed, nonce, plain, []byte(about)), nil
}

// Open decrypts what Seal made for the same owner. The error is ErrNoKey when the key is not there.
func (r *Ring) Open(sealed []byte, about string) ([]byte, error) {
	id, rest, err := split(sealed)
	if err != nil {
		return nil, err
	}
	k := r.key(id)
	if k == nil {
		return nil, fmt.Errorf("key %s: %w", id, ErrNoKey)
	}
	size := k.aead.NonceSize()
	if len(rest) < size {
		return nil, errors.New("it is cut off")
	}
	plain, err := k.aead.Open(nil, rest[:size], rest[size:], []byte(about))
	if err != nil {
		return nil, errors.New("it was changed, or is not its owner's")
	}
	return plain, nil
}

// Current reports whether something is sealed with the first key.
func (r *Ring) Current(sealed []byte) bool {
	id, _, err := split(sealed)
	r.mu.Lock()
	defer r.mu.Unlock()
	return err == nil && r.keys[0].id == id
}

// key finds a key, and looks into the source again when it is not there.
func (r *Ring) key(id string) *key {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.keys.find(id); k != nil {
		return k
	}
	r.reread()
	return r.keys.find(id)
}

// reread reads the source again, unless it was read just now. The ring is locked.
func (r *Ring) reread() {
	now := r.now()
	if !r.tried.IsZero() && now.Sub(r.tried) < rereadEvery {
		return
	}
	r.tried = now
	if fresh, err := r.read(); err == nil {
		r.keys = fresh
	}
}

// Derived returns a key of 32 bytes for a purpose from each key of the source, in their order. It reads the source
// again, at most every five seconds; when that cannot be read, the keys of before stay.
func (r *Ring) Derived(purpose string) ([][]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reread()
	derived := make([][]byte, len(r.keys))
	for i, k := range r.keys {
		var err error
		if derived[i], err = hkdf.Key(sha256.New, k.raw, nil, purpose, keySize); err != nil {
			return nil, err
		}
	}
	return derived, nil
}

// split takes the key's id off.
func split(sealed []byte) (id string, rest []byte, err error) {
	if len(sealed) < 2 || sealed[0] != version || len(sealed) < 2+int(sealed[1]) {
		return "", nil, errors.New("it was not encrypted by this version")
	}
	n := 2 + int(sealed[1])
	return string(sealed[2:n]), sealed[n:], nil
}

// Add puts a new key first into a file, which it makes when there is none. The others stay.
func Add(path string, now time.Time) (id string, err error) {
	old, err := textfile.Read(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	var there keys
	if len(bytes.TrimSpace(old)) > 0 {
		if there, err = parse(old); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	id = now.UTC().Format("2006-01-02")
	for n := 2; there.find(id) != nil; n++ {
		id = fmt.Sprintf("%s.%d", now.UTC().Format("2006-01-02"), n)
	}
	raw := make([]byte, keySize)
	rand.Read(raw)
	text := fmt.Sprintf("%s %s\n%s", id, base64.StdEncoding.EncodeToString(raw), old)
	return id, keyfile.Replace(path, []byte(text), 0o600)
}
