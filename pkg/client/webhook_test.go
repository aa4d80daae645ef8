package client

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The secret, id, time and signature are the example of the libraries of Standard Webhooks.
func TestVerifyWebhook(t *testing.T) {
	const (
		secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		right  = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
		body   = `{"test": 2432232314}`
	)
	now := time.Unix(1614265330, 0)
	for _, c := range []struct {
		name, secret, id, at, signature, body string
		late                                  time.Duration
		ok                                    bool
	}{
		{name: "the example", ok: true},
		{name: "beside others", signature: "v1a,x v1,AAAA " + right, ok: true},
		{name: "almost too late", late: 5 * time.Minute, ok: true},
		{name: "too late", late: 5*time.Minute + time.Second},
		{name: "of the future", late: -6 * time.Minute},
		{name: "another secret", secret: "whsec_" + strings.Repeat("A", 32)},
		{name: "no secret", secret: "whsec_"},
		{name: "another id", id: "msg_other"},
		{name: "another time", at: "1614265331"},
		{name: "no time", at: "soon"},
		{name: "another body", body: `{"test": 1}`},
		{name: "another version", signature: strings.Replace(right, "v1,", "v2,", 1)},
		{name: "no signature", signature: "v1,"},
		{name: "too large", body: strings.Repeat(" ", 1<<20+1)},
	} {
		or := func(text, usual string) string {
			if text == "" {
				return usual
			}
			return text
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(or(c.body, body)))
		r.Header.Set("webhook-id", or(c.id, "msg_p5jXN8AQM9LWM0D4loKWxJek"))
		r.Header.Set("webhook-timestamp", or(c.at, "1614265330"))
		r.Header.Set("webhook-signature", or(c.signature, right))
		_, err := verifyWebhook(r, now.Add(c.late), []string{"whsec_" + strings.Repeat("B", 32), or(c.secret, secret)})
		if c.ok != (err == nil) || !c.ok && !errors.Is(err, ErrWebhook) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
