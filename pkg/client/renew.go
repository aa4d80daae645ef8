package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"
)

// ErrNoToken says that the source of tokens gave none.
var ErrNoToken = errors.New("client: no token")

// TokenReason says why [TokenCallback] asks for a token.
type TokenReason string

// Reasons.
const (
	TokenFirst    TokenReason = "first"    // there is none yet
	TokenExpiring TokenReason = "expiring" // the last one ends soon
	TokenRefused  TokenReason = "refused"  // the service answered it 401
)

// tokenWish is what a source is told by its context, below wishKey.
type tokenWish struct {
	refused string
	now     func() time.Time
}

type wishKey struct{}

// RefusedToken returns the token in whose place a source is asked for another, since the service answered it 401. It is
// empty when there is no such token.
func RefusedToken(ctx context.Context) string {
	wish, _ := ctx.Value(wishKey{}).(tokenWish)
	return wish.refused
}

// renewal is a token that is replaced before it expires, and when it was refused.
type renewal struct {
	renew func(ctx context.Context, token string, why TokenReason) (string, error)

	mu    sync.Mutex
	token string
	due   time.Time // zero: never
	ends  time.Time
}

// RenewedToken is a source for programs that outlive their token, as game servers do: it gives the token, and when two
// thirds of its time are over, or the service refused it, asks renew for the next one. While that fails the old one is
// given for as long as it is good.
//
// The times are the token's, a JWT; one without them, or of another kind, is renewed when it was refused. The clock
// here may differ from its issuer's: the time of a token that renew gives begins when it comes.
func RenewedToken(token string, renew func(ctx context.Context, token string) (string, error)) TokenSource {
	r := &renewal{renew: func(ctx context.Context, token string, _ TokenReason) (string, error) {
		return renew(ctx, token)
	}}
	r.set(token, time.Now(), false)
	return r.get
}

// TokenCallback is a source for games whose players log in elsewhere: it asks for the first token, and for the next
// ones as [RenewedToken] does. A request with the context that it passes is sent with the last token.
func TokenCallback(ask func(ctx context.Context, why TokenReason) (string, error)) TokenSource {
	r := &renewal{renew: func(ctx context.Context, _ string, why TokenReason) (string, error) { return ask(ctx, why) }}
	return r.get
}

// renewing is the key of the last token in the contexts of requests for the next one.
type renewing struct{ *renewal }

func (r *renewal) get(ctx context.Context) (string, error) {
	if last, is := ctx.Value(renewing{r}).(string); is {
		return last, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if wish, ok := ctx.Value(wishKey{}).(tokenWish); ok {
		now = wish.now()
	}
	var why TokenReason
	switch {
	case r.token == "":
		why = TokenFirst
	case RefusedToken(ctx) == r.token:
		why = TokenRefused
	case r.due.IsZero() || now.Before(r.due):
		return r.token, nil
	default:
		why = TokenExpiring
	}
	next, err := r.renew(context.WithValue(ctx, renewing{r}, r.token), r.token, why)
	switch {
	case err == nil:
		r.set(next, now, true)
	case why != TokenExpiring || !now.Before(r.ends):
		return "", err
	default:
		// Not at every request: a third of the time that is left.
		r.due = now.Add(r.ends.Sub(now) / 3)
	}
	return r.token, nil
}

// set takes a token that has just come, or, when it is not fresh, some time ago.
func (r *renewal) set(token string, now time.Time, fresh bool) {
	r.token, r.due, r.ends = token, time.Time{}, time.Time{}
	issued, expires := timesOf(token)
	if issued.IsZero() || issued.After(expires) {
		issued = now
	}
	life := expires.Sub(issued)
	if expires.IsZero() || fresh && life <= 0 {
		return
	}
	if fresh || now.Before(issued) {
		issued = now
	}
	r.due, r.ends = issued.Add(life*2/3), issued.Add(life)
}

// timesOf reads when a JWT was issued and when it expires, without verifying it: that is the service's affair.
func timesOf(token string) (issued, expires time.Time) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, time.Time{}
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, time.Time{}
	}
	var claims struct {
		IssuedAt  float64 `json:"iat"`
		ExpiresAt float64 `json:"exp"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return time.Time{}, time.Time{}
	}
	return moment(claims.IssuedAt), moment(claims.ExpiresAt)
}

func moment(seconds float64) time.Time {
	if seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000))
}
