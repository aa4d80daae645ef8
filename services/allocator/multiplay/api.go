package multiplay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/transport"
)

// api is the API of Clanforge.
type api struct {
	client *transport.Client
	url    string
	auth   string
	now    func() time.Time
}

// allocation is Clanforge's answer about one. Until it has a server most members are empty strings, even numbers.
type allocation struct {
	UUID  string `json:"uuid"`
	IP    string `json:"ip"`
	IPv6  string `json:"ipv6"`
	Port  digits `json:"game_port"`
	Ready string `json:"ready"`
	Error string `json:"error"`
}

// digits is a number that may be written as a string, and 0 when that is empty.
type digits int

// UnmarshalJSON takes 7, "7", "" and null.
func (d *digits) UnmarshalJSON(text []byte) error {
	plain := strings.Trim(string(text), `"`)
	if plain == "" || plain == "null" {
		*d = 0
		return nil
	}
	n, err := strconv.Atoi(plain)
	*d = digits(n)
	return err
}

// hasFailed reports whether there is no server and will be none.
func (a *allocation) hasFailed() bool { return a.Error != "" && a.IP == "" }

// connection is what players connect to, "" until there is a server.
func (a *allocation) connection(v6 bool) string {
	host := a.IP
	if v6 && a.IPv6 != "" {
		host = a.IPv6
	}
	if net.ParseIP(host) == nil || a.Port < 1 || a.Port > 65535 {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(int(a.Port)))
}

// envelope is the common part of all answers.
type envelope struct {
	Success     *bool           `json:"success"`
	Messages    json.RawMessage `json:"messages"`
	Allocation  *allocation     `json:"allocation"`
	Allocations []*allocation   `json:"allocations"`
}

func (a *api) allocate(ctx context.Context, version string, who account, query url.Values, payload []byte) error {
	method, path := http.MethodPost, "/cfp/v2/fleet/"+who.fleet+"/server/allocate"
	if version == apiV1 {
		method, path = http.MethodGet, "/cfp/v1/server/allocate"
		query.Set("fleetid", who.fleet)
	}
	got, err := a.call(ctx, who, method, path, query, payload)
	if err != nil {
		return err
	}
	if got.Allocation != nil && got.Allocation.Error != "" {
		return refusal(got.Allocation.Error, who.secrets()...)
	}
	return nil
}

// allocations returns the allocations of ids that Clanforge knows.
func (a *api) allocations(ctx context.Context, who account, ids []string) (map[string]*allocation, error) {
	got, err := a.call(
		ctx, who, http.MethodGet, "/cfp/v1/server/allocations", url.Values{"fleetid": {who.fleet}, "uuid": ids}, nil,
	)
	known := map[string]*allocation{}
	if errors.Is(err, errNotFound) {
		if len(ids) == 1 {
			return known, nil
		}
		// One unknown id may hide the others.
		for _, half := range [][]string{ids[:len(ids)/2], ids[len(ids)/2:]} {
			found, err := a.allocations(ctx, who, half)
			if err != nil {
				return nil, err
			}
			maps.Copy(known, found)
		}
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	if got.Allocations == nil {
		return nil, errors.New("Clanforge's answer is no list of allocations") //nolint:staticcheck // a name
	}
	for _, one := range got.Allocations {
		if one != nil {
			known[strings.ToLower(one.UUID)] = one
		}
	}
	return known, nil
}

func (a *api) deallocate(ctx context.Context, version string, who account, id string) error {
	method, path, query := http.MethodPost, "/cfp/v2/fleet/"+who.fleet+"/server/deallocate", url.Values{"uuid": {id}}
	if version == apiV1 {
		method, path = http.MethodGet, "/cfp/v1/server/deallocate"
		query.Set("fleetid", who.fleet)
	}
	_, err := a.call(ctx, who, method, path, query, nil)
	if errors.Is(err, errNotFound) {
		return nil
	}
	return err
}

// call makes a call and reads its answer. An answer that is no success is an error. payload is nil for none.
func (a *api) call(
	ctx context.Context, who account, method, path string, query url.Values, payload []byte,
) (*envelope, error) {
	request, err := http.NewRequestWithContext(ctx, method, a.url+path+"?"+query.Encode(), bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if payload != nil {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-Enable-Payload", "true")
	}
	if a.auth == authBasic {
		request.SetBasicAuth(string(who.access), string(who.secret))
	} else {
		s := signer{string(who.access), string(who.secret), scope}
		s.sign(request, payload, a.now())
	}
	answer, err := a.client.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	var got envelope
	structured := json.Unmarshal(answer.Body, &got) == nil && got.Success != nil
	switch {
	case answer.Status == http.StatusOK && structured && *got.Success:
		return &got, nil
	case answer.Status == http.StatusOK && !structured:
		return nil, errors.New("Clanforge's answer is no JSON of its kind") //nolint:staticcheck // a name
	}
	return nil, a.failure(answer, answer.Redact(string(got.Messages), who.secrets()...))
}

var (
	// errNotFound means that an allocation is not known.
	errNotFound = errors.New("the allocation is not known")
	// errForbidden means that the keys are refused.
	errForbidden = errors.New("the keys are refused")
)

// noRows is Clanforge's message when it does not find something.
const noRows = "no rows in result set"

// failure translates a failed call. message is Clanforge's.
func (a *api) failure(answer *transport.Answer, message string) error {
	cause := fmt.Errorf("status %d: %s", answer.Status, message)
	switch {
	case answer.Status == http.StatusUnauthorized || answer.Status == http.StatusForbidden:
		return provider.Fail(provider.Refused, "hosting: Multiplay refuses Access and Secret").
			Because(errors.Join(errForbidden, cause))
	case answer.Status == http.StatusNotFound || strings.Contains(strings.ToLower(message), noRows):
		return provider.Fail(provider.Refused, "hosting: Multiplay does not know the fleet, the region or the profile").
			Because(errors.Join(errNotFound, cause))
	case answer.Status == http.StatusTooManyRequests:
		return provider.Fail(provider.Contention, "Multiplay limits its calls").After(answer.RetryAfter(a.now())).
			Because(cause)
	case answer.Status == http.StatusOK || answer.Status == http.StatusConflict ||
		answer.Status == http.StatusBadRequest || answer.Status == http.StatusUnprocessableEntity:
		return refusal(message).Because(cause)
	}
	return fmt.Errorf("answered with status %d: %s", answer.Status, message)
}

// Clanforge has no codes for why there is no server, and does not document its messages. These patterns fit the known
// ones, and the contract's "hosting maximum … is zero".
var (
	maximumZero = regexp.MustCompile(`(?i)\bmax(imum)?\b.*\b(zero|0)\b|\b(zero|0)\b.*\bmax(imum)?\b`)
	fleetEmpty  = regexp.MustCompile(
		`(?i)\bcapacity\b|\bno (available|free|unallocated)\b.*\bservers?\b|\bservers? available\b`,
	)
	busy = regexp.MustCompile(`(?i)\b(rate limit|too many|throttl|request in progress|try again)`)
)

// refusal translates a message of Clanforge. The reason is provider.Refused when the message fits no other.
func refusal(message string, secrets ...string) *provider.Error {
	message = transport.Redact(message, secrets...)
	cause := fmt.Errorf("it says: %s", message)
	switch {
	case maximumZero.MatchString(message):
		return provider.Fail(provider.MaximumZero, "the hosting maximum of the fleet or its region is zero").Because(cause)
	case fleetEmpty.MatchString(message):
		return provider.Fail(provider.FleetEmpty, "the fleet has no free game server").Because(cause)
	case busy.MatchString(message):
		return provider.Fail(provider.Contention, "Multiplay is busy").Because(cause)
	}
	return provider.Fail(provider.Refused, "Multiplay could not allocate a game server").Because(cause)
}
