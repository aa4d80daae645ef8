package client

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// SeatKeysPath is where a service has the public keys of seat passes, as a JSON Web Key Set.
const SeatKeysPath = "/.well-known/seat-keys.json"

const (
	// maxKeys and maxKeysSize bound a key set. It has a key for each rotation of the last day.
	maxKeys     = 128
	maxKeysSize = 256 << 10
	// keysAge is how long keys are used before they are read again: new ones are published ten minutes before they
	// sign.
	keysAge = 5 * time.Minute
	// keysEnd is for how long keys are used that cannot be read again.
	keysEnd = 24 * time.Hour
	// keysPause is the least time between two reads: passes of unknown keys cause no more.
	keysPause = 10 * time.Second
	// keysTime is how long a read may take.
	keysTime = 10 * time.Second
)

// SeatKeys are the public keys that seat passes are signed with. All Seats of a process may share them. They are safe
// for concurrent use.
type SeatKeys struct {
	url  string // "" for keys that do not change
	http *http.Client

	mu   sync.Mutex
	keys map[string]ed25519.PublicKey
	// read is when they were read last, and tried when that was tried last. err is why there are no keys.
	read, tried time.Time
	err         error
	// reading is closed when the read that is under way ends; nil if none is.
	reading chan struct{}
}

// SeatKeysAt are the keys at a URL, as https://matchmaker.example with SeatKeysPath. They are read when the first pass
// is checked, and again every five minutes, and when a pass has an unknown key. Keys that were read stay in use for
// a day while they cannot be read again. h is what reads them; by default a client that follows no redirects.
func SeatKeysAt(address string, h *http.Client) (*SeatKeys, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("client: seat keys: an http or https URL is expected")
	}
	if h == nil {
		h = newHTTP()
	}
	return &SeatKeys{url: address, http: h}, nil
}

// SeatKeysOf are the keys of a key set that the caller has read, for servers that reach nothing. They do not change.
func SeatKeysOf(set []byte) (*SeatKeys, error) {
	keys, err := parseSeatKeys(set)
	if err != nil {
		return nil, err
	}
	return &SeatKeys{keys: keys}, nil
}

// parseSeatKeys reads the Ed25519 keys of a key set. Others are left out.
func parseSeatKeys(text []byte) (map[string]ed25519.PublicKey, error) {
	var set struct {
		Keys []struct {
			Type  string `json:"kty"`
			Curve string `json:"crv"`
			ID    string `json:"kid"`
			X     string `json:"x"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("client: seat keys: no JSON Web Key Set")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("client: seat keys: %d keys, at most %d are expected", len(set.Keys), maxKeys)
	}
	keys := make(map[string]ed25519.PublicKey, len(set.Keys))
	for _, k := range set.Keys {
		if raw, err := decode(k.X); err == nil && k.Type == "OKP" && k.Curve == "Ed25519" && k.ID != "" &&
			len(raw) == ed25519.PublicKeySize {
			keys[k.ID] = raw
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("client: seat keys: no Ed25519 key with an id")
	}
	return keys, nil
}

// find returns a key, nil if there is none of that id. It is an error if there are no keys at all, since they cannot be
// read.
func (k *SeatKeys) find(ctx context.Context, id string) (ed25519.PublicKey, error) {
	key, reading := k.look(ctx, id)
	if key == nil && reading != nil {
		select {
		case <-reading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if key == nil {
		key = k.keys[id]
	}
	if len(k.keys) == 0 {
		return nil, k.err
	}
	return key, nil
}

// look returns a key that is known, and begins to read the keys when it is time. reading is closed when that ends.
func (k *SeatKeys) look(ctx context.Context, id string) (key ed25519.PublicKey, reading chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.url == "" {
		return k.keys[id], nil
	}
	now := time.Now()
	if now.Sub(k.read) >= keysEnd {
		k.keys = nil
	}
	key = k.keys[id]
	due := key == nil || now.Sub(k.read) >= keysAge
	if due && k.reading == nil && (k.tried.IsZero() || now.Sub(k.tried) >= keysPause) {
		k.reading, k.tried = make(chan struct{}), now
		go k.refresh(context.WithoutCancel(ctx), k.reading)
	}
	return key, k.reading
}

// refresh reads the keys.
func (k *SeatKeys) refresh(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, keysTime)
	defer cancel()
	keys, err := k.fetch(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err = err; err == nil {
		k.keys, k.read = keys, time.Now()
	}
	k.reading = nil
	close(done)
}

func (k *SeatKeys) fetch(ctx context.Context) (map[string]ed25519.PublicKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("client: seat keys: %w", err)
	}
	response, err := k.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("client: seat keys: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("client: seat keys: the answer is %d", response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeysSize+1))
	if err != nil {
		return nil, fmt.Errorf("client: seat keys: %w", err)
	}
	if len(text) > maxKeysSize {
		return nil, fmt.Errorf("client: seat keys: more than %d bytes", maxKeysSize)
	}
	return parseSeatKeys(text)
}
