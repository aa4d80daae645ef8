package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jws/jwsbb"
	"github.com/lestrrat-go/jwx/v3/jwt"

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
	until := now.Add(cacheTime)
	if p.Expires.Before(until) {
		until = p.Expires
	}
	if now.Before(until) {
		v.cache.put(&entry{key: id, principal: p, until: until, size: entrySize + len(token) + len(p.claims)})
	}
	return p, nil
}

func (v *Verifier) verify(ctx context.Context, token string) (*Principal, error) {
	message, err := jws.ParseString(token, jws.WithCompact())
	if err != nil || len(message.Signatures()) != 1 {
		return nil, refuse("the token is not a signed JWT")
	}
	if err := checkJSON(token, message.Payload()); err != nil {
		return nil, err
	}
	claimed, err := jwt.ParseInsecure(message.Payload())
	if err != nil {
		return nil, refuse("the token has no claims")
	}
	issuer, _ := claimed.Issuer()
	from := v.issuers[issuer]
	if from == nil {
		return nil, refuse("the token's issuer is not trusted")
	}
	if err := from.checkSignature(ctx, token, message.Signatures()[0]); err != nil {
		return nil, err
	}
	if err := v.checkTimes(claimed); err != nil {
		return nil, err
	}
	claims := claimsOf(message.Payload())
	audience := stringsOf(claims, cmp.Or(from.Claims.Audience, jwt.AudienceKey))
	if !slices.ContainsFunc(audience, func(a string) bool { return slices.Contains(from.Audiences, a) }) {
		return nil, refuse("the token is for another audience")
	}
	p, err := from.principal(claimed, claims)
	if err == nil && p.Kind == Player {
		p.claims = message.Payload()
	}
	return p, err
}

// checkSignature verifies the token with the key its header names. The algorithm must be one of that key's: what the
// header says is not believed.
func (t *trustedIssuer) checkSignature(ctx context.Context, token string, signature *jws.Signature) error {
	header := signature.ProtectedHeaders()
	if header.Has(jws.CriticalKey) {
		return refuse("the token has critical extensions, and none is understood")
	}
	kid, ok := header.KeyID()
	if !ok || kid == "" {
		return refuse("the token does not name its key")
	}
	k, err := t.keys.find(ctx, kid)
	if err != nil {
		return err
	}
	alg, _ := header.Algorithm()
	if !slices.Contains(k.algs, alg) {
		return refuse("the token's algorithm is not allowed with its key")
	}
	// Not jws.Verify, which takes the token apart once more.
	signed := token[:strings.LastIndexByte(token, '.')]
	if jwsbb.Verify(k.public, alg.String(), []byte(signed), signature.Signature()) != nil {
		return refuse("the token's signature is wrong")
	}
	return nil
}

func (v *Verifier) checkTimes(claimed jwt.Token) error {
	if !v.known() {
		return problem.New(problem.Unavailable, "the clock of the state store is not known yet, try again").After(time.Second)
	}
	err := jwt.Validate(claimed, jwt.WithClock(jwt.ClockFunc(v.now)), jwt.WithAcceptableSkew(clockSkew),
		jwt.WithRequiredClaim(jwt.ExpirationKey))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.TokenExpiredError()):
		return problem.New(problem.TokenExpired, "the token has expired")
	case errors.Is(err, jwt.TokenNotYetValidError()), errors.Is(err, jwt.InvalidIssuedAtError()):
		return refuse("the token is not valid yet")
	case errors.Is(err, jwt.MissingRequiredClaimError()):
		return refuse("the token never expires")
	}
	return refuse("the token's times are wrong")
}

// principal reads the claims that the issuer's settings point to.
func (t *trustedIssuer) principal(claimed jwt.Token, claims map[string]any) (*Principal, error) {
	p := &Principal{}
	p.Expires, _ = claimed.Expiration()
	if p.Subject, _ = claimed.Subject(); !IsPlayer(p.Subject) {
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

// checkJSON refuses a token that two readers could understand differently: one whose header or claims have the same
// name twice in an object, whose times are no numbers, or whose Base64 has another form. The library that reads tokens
// takes the last of two claims, texts as times, and a signature in many forms.
func checkJSON(token string, claims []byte) error {
	var header []byte
	for i, encoded := range strings.Split(token, ".") {
		part, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
		if err != nil {
			return refuse("the token is not a signed JWT")
		}
		if i == 0 {
			header = part
		}
	}
	if err := scan(header); err != nil {
		return err
	}
	return scan(claims, "exp", "nbf", "iat")
}

// maxDepth bounds how deep the objects and lists of a token lie in each other.
const maxDepth = 32

// scan reads a JSON object. The members of it that numbers names must be numbers.
func scan(text []byte, numbers ...string) error {
	if web.TooDeep(text, maxDepth) {
		return refuse("the token's claims lie too deep in each other")
	}
	var members map[string]jsontext.Value
	switch err := json.Unmarshal(text, &members); {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return refuse("the token has the same claim twice")
	case err != nil:
		return refuse("the token has no claims")
	}
	for _, name := range numbers {
		if value, there := members[name]; there && value.Kind() != jsontext.KindNumber {
			return refuse("the token's times are no numbers")
		}
	}
	return nil
}
