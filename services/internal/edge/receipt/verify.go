package receipt

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyring"
)

// MaxReceipts is the most receipts of a request: one a region for each family of addresses.
const MaxReceipts = 2 * MaxRegions

// longestText is the most characters of a receipt in JSON.
var longestText = base64.RawURLEncoding.EncodedLen(MaxSize)

// clockDifference is how far a beacon's clock may be ahead.
const clockDifference = time.Minute

// Verifier believes receipts of the regions of a file, or not. It is safe for concurrent use.
type Verifier struct {
	regions []Region
	keys    map[string]*keyring.Ring // of the regions whose answers are believed
	age     time.Duration
	proxies []netip.Prefix
	now     func() time.Time
}

// Open reads the file and the keys that it names. It returns nil without a file.
func Open(s Settings, now func() time.Time) (*Verifier, error) {
	if s.File == "" {
		return nil, nil
	}
	v := &Verifier{keys: map[string]*keyring.Ring{}, age: s.Age, now: now}
	var err error
	if v.proxies, err = s.Proxies.Networks(); err != nil {
		return nil, err
	}
	if v.regions, err = read(s.File); err != nil {
		return nil, fmt.Errorf("--regions: %s: %w", s.File, err)
	}
	for _, r := range v.regions {
		if r.Keys == "" {
			continue
		}
		if v.keys[r.Name], err = keyring.Open(r.Keys, now); err != nil {
			return nil, fmt.Errorf("--regions: %s: region %s: keys: %w", s.File, r.Name, err)
		}
	}
	return v, nil
}

// Regions lists the regions, in the order of the file. A nil Verifier has none.
func (v *Verifier) Regions() []Region {
	if v == nil {
		return nil
	}
	return v.regions
}

// Age is for how long a receipt is believed.
func (v *Verifier) Age() time.Duration {
	if v == nil {
		return 0
	}
	return v.age
}

// CheckSize is an Invalid error for more receipts, or longer ones, than any request may have, and for a game service's:
// they are for another network, and it sets the values itself.
func CheckSize(receipts []string, caller *auth.Principal) error {
	if len(receipts) > 0 && caller.Kind != auth.Player {
		return problem.New(problem.Invalid, "receipts: only players send them; a game service sets the values itself")
	}
	if n := len(receipts); n > MaxReceipts {
		return problem.New(problem.Invalid, "receipts: %d of them, at most %d are allowed", n, MaxReceipts)
	}
	for i, text := range receipts {
		if len(text) > longestText {
			return problem.New(problem.Invalid, "receipts.%d: %d characters, at most %d are allowed", i, len(text), longestText)
		}
	}
	return nil
}

// Verify returns the round trips that receipts prove, in milliseconds by region, for a client that the request comes
// from. One that is not believed is an Invalid error. A receipt for the other family of addresses is passed over when
// the same region has one for the family of the request.
func (v *Verifier) Verify(receipts []string, request *http.Request) (map[string]float64, error) {
	if len(receipts) == 0 {
		return nil, nil
	}
	if v == nil {
		return nil, problem.New(problem.Invalid, "receipts: this service has no regions, and believes none")
	}
	client, ok := web.ClientAddress(request, v.proxies)
	if !ok {
		return nil, problem.New(problem.Invalid, "receipts: the request says no address of its client")
	}
	proven := make(map[string]float64, len(receipts))
	seen := make([]receipt, 0, len(receipts))
	for i, text := range receipts {
		r, err := v.verify(text)
		if err != nil {
			return nil, problem.New(problem.Invalid, "receipts.%d: %s", i, err)
		}
		if slices.ContainsFunc(seen, func(o receipt) bool { return o.region == r.region && o.family == r.family }) {
			return nil, problem.New(problem.Invalid, "receipts.%d: there is another one of region %s", i, r.region)
		}
		seen = append(seen, r)
		if r.isOf(client) {
			proven[r.region] = float64(r.rtt.Microseconds()) / 1000
		}
	}
	for i, r := range seen {
		if _, ok := proven[r.region]; !ok {
			return nil, problem.New(problem.Invalid, "receipts.%d: it was measured from another network than this request "+
				"comes from: measure region %s again", i, r.region)
		}
	}
	return proven, nil
}

// verify reads a receipt, and checks all but the network.
func (v *Verifier) verify(text string) (r receipt, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return r, errors.New("it is not the Base64 of URLs, without padding")
	}
	r, ok := parse(raw)
	if !ok {
		return r, errors.New("it is no receipt of a beacon")
	}
	ring := v.keys[r.region]
	if ring == nil {
		return r, fmt.Errorf("no beacon of a region %s is believed", r.region)
	}
	signer, err := signerOf(ring, &r)
	if err != nil {
		return r, err
	}
	if signer == nil {
		return r, fmt.Errorf("the beacon of region %s has not signed it", r.region)
	}
	r.isOf = func(client netip.Addr) bool { return hmac.Equal(signer.digest(client), r.digest) }
	switch age := v.now().Sub(r.measured); {
	case age > v.age:
		return r, fmt.Errorf("it is %v old, at most %v are allowed: measure region %s again", age.Round(time.Second), v.age,
			r.region)
	case -age > clockDifference:
		return r, fmt.Errorf("the clock of the beacon of region %s is ahead by %v", r.region, (-age).Round(time.Second))
	}
	return r, nil
}

// signerOf is the signer with the key that signed a receipt; nil for none of the keys that are in the file now.
func signerOf(ring *keyring.Ring, r *receipt) (*Signer, error) {
	keys, err := ring.Derived(Purpose)
	for _, key := range keys {
		if s := NewSigner(r.region, key); hmac.Equal(s.tag(r.signed), r.tag) {
			return s, nil
		}
	}
	return nil, err
}
