package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookEvent is an event that a webhook gets: a CloudEvent.
type WebhookEvent struct {
	// ID is the same whenever the event is sent: ignore an event whose ID you have seen.
	ID string `json:"id"`
	// Source is /PROJECT/matchmaking, Type dev.matchmaker. and the kind, and Subject the match, or the first ticket.
	Source  string    `json:"source"`
	Type    string    `json:"type"`
	Subject string    `json:"subject"`
	Time    time.Time `json:"time"`
	Data    Event     `json:"data"`
}

// What a receiver accepts: the most bytes of a request, and how far its time may be from the receiver's.
const (
	maxWebhookBytes = 1 << 20
	webhookSlack    = 5 * time.Minute
)

// ErrWebhook is why a request is not believed.
var ErrWebhook = errors.New("matchmaker: the request of a webhook is not believed")

// VerifyWebhook reads the request of a webhook and returns its event, if one of the secrets (whsec_…) signed it in the
// last five minutes. Answer 2xx once the event is stored, and 401 if the error is ErrWebhook.
func VerifyWebhook(r *http.Request, secrets ...string) (*WebhookEvent, error) {
	return verifyWebhook(r, time.Now(), secrets)
}

func verifyWebhook(r *http.Request, now time.Time, secrets []string) (*WebhookEvent, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxWebhookBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxWebhookBytes {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrWebhook, maxWebhookBytes)
	}
	id, at := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > webhookSlack {
		return nil, fmt.Errorf("%w: webhook-timestamp is not the time", ErrWebhook)
	}
	if !isSigned(r.Header.Get("webhook-signature"), id+"."+at+"."+string(body), secrets) {
		return nil, fmt.Errorf("%w: webhook-signature is not of its secret", ErrWebhook)
	}
	event := new(WebhookEvent)
	if err := json.Unmarshal(body, event); err != nil {
		return nil, fmt.Errorf("%w: the body is no event", ErrWebhook)
	}
	return event, nil
}

// isSigned reports whether one of the signatures is by one of the secrets.
func isSigned(signatures, content string, secrets []string) bool {
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			continue // anybody could sign with no key
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(content))
		want := mac.Sum(nil)
		for one := range strings.FieldsSeq(signatures) {
			text, ok := strings.CutPrefix(one, "v1,")
			if got, err := base64.StdEncoding.DecodeString(text); ok && err == nil && hmac.Equal(got, want) {
				return true
			}
		}
	}
	return false
}
