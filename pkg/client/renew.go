package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// renewal is a token that is replaced before it expires.
type renewal struct {
	renew func(ctx context.Context, token string) (string, error)
	now   func() time.Time

	mu    sync.Mutex
	token string
	due   time.Time // zero: never
	ends  time.Time
}

// RenewedToken is a source for programs that outlive their token, as game servers do: it gives the token, and when two
// thirds of its time are over asks renew for the next one. While that fails the old one is given for as long as it is
// good.
//
// The times are the token's, a JWT; one without them, or of another kind, is never renewed.
func RenewedToken(token string, renew func(ctx context.Context, token string) (string, error)) TokenSource {
	r := &renewal{renew: renew, now: time.Now}
	r.set(token)
	return r.get
}

func (r *renewal) get(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if r.due.IsZero() || now.Before(r.due) {
		return r.token, nil
	}
	next, err := r.renew(ctx, r.token)
	switch {
	case err == nil:
		r.set(next)
	case !now.Before(r.ends):
		return "", err
	default:
		// Not at every request: a third of the time that is left.
		r.due = now.Add(r.ends.Sub(now) / 3)
	}
	return r.token, nil
}

func (r *renewal) set(token string) {
	r.token, r.due, r.ends = token, time.Time{}, time.Time{}
	issued, expires := timesOf(token)
	if expires.IsZero() {
		return
	}
	if issued.IsZero() || issued.After(expires) {
		issued = r.now()
	}
	r.due, r.ends = issued.Add(expires.Sub(issued)*2/3), expires
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
