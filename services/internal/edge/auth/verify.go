package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jws/jwsbb"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

const (
	maxToken = 16 << 10 // bytes; a token with many projects has about 2 KiB
	// cacheTime bounds how long a verified token is taken without looking at its issuer's keys again.
	cacheTime = 5 * time.Minute
	// clockSkew is how far an issuer's clock may be off.
	clockSkew = 30 * time.Second
)

// Verify returns a token's principal. The error is a *problem.Error: Unauthenticated with the reason, or Unavailable
// while the issuer's keys were never loaded.
func (v *Verifier) Verify(ctx context.Context, token string) (*Principal, error) {
	if len(token) > maxToken {
		return nil, refuse("the token is too long")
	}
	now := v.now()
	// Of a token that is not uncommonly long the copy is on the stack.
	id := sha256.Sum256(append(make([]byte, 0, 1<<10), token...))
	if p := v.cache.get(id, now); p != nil {
		return p, nil
	}
	p, err := v.verify(ctx, token)
	if err != nil {
		return nil, err
	}
	if until := now.Add(min(cacheTime, p.Expires.Sub(now))); now.Before(until) {
		v.cache.put(&entry{key: id, principal: p, until: until, size: entrySize + len(token) + len(p.claims)})
	}
	return p, nil
}

func (v *Verifier) verify(ctx context.Context, token string) (*Principal, error) {
	var header header
	var parts [3][]byte
	encoded := strings.SplitN(token, ".", len(parts)+1)
	for i := range parts {
		var err error
		if len(encoded) == len(parts) {
			parts[i], err = base64.RawURLEncoding.Strict().DecodeString(encoded[i])
		}
		if err != nil || len(parts[i]) == 0 {
			return nil, refuse(notSigned)
		}
	}
	if err := read(parts[0], &header, notSigned); err != nil {
		return nil, err
	}
	claims, err := claimsOf(parts[1])
	if err != nil {
		return nil, err
	}
	issuer, _ := claims["iss"].(string)
	from := v.issuers[issuer]
	if from == nil {
		return nil, refuse("the token's issuer is not trusted")
	}
	if err := from.checkSignature(ctx, &header, []byte(token[:strings.LastIndexByte(token, '.')]), parts[2]); err != nil {
		return nil, err
	}
	expires, err := v.checkTimes(claims)
	if err != nil {
		return nil, err
	}
	audience := stringsOf(claims, cmp.Or(from.Claims.Audience, "aud"))
	if !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(from.Audiences, a) }) {
		return nil, refuse("the token is for another audience")
	}
	p, err := from.principal(claims, expires)
	if err == nil && p.Kind == Player {
		p.claims = parts[1]
	}
	return p, err
}

const notSigned = "the token is not a signed JWT"

// header is what counts of a token's header.
type header struct {
	Algorithm string         `json:"alg"`
	Key       string         `json:"kid"`
	Critical  jsontext.Value `json:"crit"`
}

// checkSignature verifies the token with the key its header names. The algorithm must be one of that key's: what the
// header says is not believed.
func (t *trustedIssuer) checkSignature(ctx context.Context, h *header, signed, signature []byte) error {
	if h.Critical != nil {
		return refuse("the token has critical extensions, and none is understood")
	}
	if h.Key == "" {
		return refuse("the token does not name its key")
	}
	k, err := t.keys.find(ctx, h.Key)
	switch {
	case err != nil:
		return err
	case !slices.Contains(k.algs, h.Algorithm):
		return refuse("the token's algorithm is not allowed with its key")
	case jwsbb.Verify(k.public, h.Algorithm, signed, signature) != nil:
		return refuse("the token's signature is wrong")
	}
	return nil
}

// checkTimes returns when a token ends that is good now.
func (v *Verifier) checkTimes(claims map[string]any) (expires time.Time, err error) {
	if !v.known() {
		return expires, problem.New(problem.Unavailable,
			"the clock of the state store is not known yet, try again").After(time.Second)
	}
	var times [3]time.Time
	for i, name := range [...]string{"exp", "nbf", "iat"} {
		if value, there := claims[name]; there {
			number, _ := value.(json.Number)
			seconds, err := number.Float64()
			if err != nil || math.Abs(seconds) >= 1<<53 { // from there on a float64 is not exact
				return expires, refuse("the token's times are no seconds since 1970")
			}
			times[i] = time.Unix(int64(seconds), 0)
		}
	}
	now := v.now()
	early := func(t time.Time) bool { return now.Before(t.Add(-clockSkew)) }
	switch expires = times[0]; {
	case expires.IsZero():
		return expires, refuse("the token never expires")
	case !now.Before(expires.Add(clockSkew)):
		return expires, problem.New(problem.TokenExpired, "the token has expired")
	case early(times[1]) || early(times[2]):
		return expires, refuse("the token is not valid yet")
	}
	return expires, nil
}

// principal reads the claims that the issuer's settings point to.
func (t *trustedIssuer) principal(claims map[string]any, expires time.Time) (*Principal, error) {
	p := &Principal{Expires: expires}
	if p.Subject, _ = claims["sub"].(string); !IsPlayer(p.Subject) {
		return nil, refuse("the token has no usable subject")
	}
	p.Kind = t.Kinds[0]
	if t.Claims.Kind != "" {
		claim, _ := lookup(claims, t.Claims.Kind)
		kind, _ := claim.(string)
		p.Kind = Kind(kind)
	}
	if !slices.Contains(t.Kinds, p.Kind) {
		return nil, refuse("the token is of a kind its issuer may not issue")
	}
	p.Roles = stringsOf(claims, t.Claims.Role)
	for _, scope := range stringsOf(claims, t.Claims.Scope) {
		p.Scopes = append(p.Scopes, strings.Fields(scope)...)
	}
	var match, fleet, backfill bool
	p.Match, match = stringOf(claims, t.Claims.Match)
	p.Fleet, fleet = stringOf(claims, t.Claims.Fleet)
	p.Backfill, backfill = stringOf(claims, t.Claims.Backfill)
	if !match || !fleet || !backfill {
		// Without its match a token would be good for more.
		return nil, refuse("the token names its match, fleet or backfill ticket with something that is no text")
	}
	if _, present := lookup(claims, t.Claims.Match); present && p.Match == "" {
		return nil, refuse("the token names an empty match: leave the claim out for a token of the whole project")
	}
	p.Projects = t.projects(claims)
	if len(p.Projects) == 0 {
		return nil, refuse("the token is for no project its issuer may speak for")
	}
	return p, nil
}

// projects are those the token names and the issuer may speak for.
func (t *trustedIssuer) projects(claims map[string]any) []string {
	if t.Claims.Project == "" {
		if len(t.Projects) == 0 { // then AnyProject is set
			return []string{everyProject}
		}
		return t.Projects
	}
	return slices.DeleteFunc(stringsOf(claims, t.Claims.Project), func(project string) bool {
		switch {
		case project == everyProject:
			return !t.AnyProject
		case len(t.Projects) > 0:
			return !slices.Contains(t.Projects, project)
		}
		return project == ""
	})
}

// lookup follows a path of claims, and says whether it leads to one. Names may hold dots themselves
// (https://example.com/game.skill), so of the names that the path may begin with, the longest is tried first. Where the
// path goes through something that is no object, that is what it leads to: an issuer meant to say something there.
func lookup(object map[string]any, path string) (value any, present bool) {
	if value, present = object[path]; present {
		return value, true
	}
	for dot := strings.LastIndexByte(path, '.'); dot >= 0; dot = strings.LastIndexByte(path[:dot], '.') {
		through, ok := object[path[:dot]]
		if !ok {
			continue
		}
		found := any(noObject{})
		if inner, is := through.(map[string]any); is {
			found, ok = lookup(inner, path[dot+1:])
		}
		if _, bad := found.(noObject); ok && !bad {
			return found, true
		}
		if ok {
			value, present = found, true
		}
	}
	return value, present
}

// noObject stands for a claim that should have been an object.
type noObject struct{}

// stringsOf is a claim that is a string or a list of strings; of anything else nothing is taken.
func stringsOf(claims map[string]any, path string) (all []string) {
	claim, _ := lookup(claims, path)
	switch claim := claim.(type) {
	case string:
		return []string{claim}
	case []any:
		for _, one := range claim {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
}

// stringOf is a claim that is a string, "" when there is none; ok is false when it is anything else.
func stringOf(claims map[string]any, path string) (text string, ok bool) {
	claim, present := lookup(claims, path)
	if !present {
		return "", true
	}
	text, ok = claim.(string)
	return text, ok
}

func refuse(reason string) error {
	return problem.New(problem.Unauthenticated, "%s", problem.Word(reason))
}

// maxDepth bounds how deep the objects and lists of a token lie in each other.
const maxDepth = 32

// read reads a JSON object of a token. It refuses one that two readers could understand differently, since the same
// name is twice in an object. otherwise is what it says of what is no such object.
func read(text []byte, object any, otherwise string) error {
	if web.TooDeep(text, maxDepth) {
		return refuse("the token's claims lie too deep in each other")
	}
	switch err := jsonv2.Unmarshal(text, object, exactNumbers); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return refuse("the token has the same claim twice")
	case err != nil:
		return refuse(otherwise)
	}
	return nil
}

// exactNumbers keeps numbers as they are written: one may be larger than a float64.
var exactNumbers = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, value *any) error {
	if d.PeekKind() != jsontext.KindNumber {
		return errors.ErrUnsupported
	}
	number, err := d.ReadToken()
	*value = json.Number(number.String())
	return err
}))
