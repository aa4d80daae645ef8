package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// The SDK of TypeScript has the same cases.
func TestVerifyWebhook(t *testing.T) {
	type request struct {
		Name, ID, Timestamp, Signature, Body, Secret string
		Now                                          int64
		Spaces                                       int
		OK                                           bool
	}
	var of struct {
		Usual request
		Cases []request
	}
	text, err := os.ReadFile("testdata/webhook.json")
	if err := errors.Join(err, json.Unmarshal(text, &of)); err != nil || len(of.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range of.Cases {
		body := cmp.Or(strings.Repeat(" ", c.Spaces), c.Body, of.Usual.Body)
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("webhook-id", cmp.Or(c.ID, of.Usual.ID))
		r.Header.Set("webhook-timestamp", cmp.Or(c.Timestamp, of.Usual.Timestamp))
		r.Header.Set("webhook-signature", cmp.Or(c.Signature, of.Usual.Signature))
		_, err := verifyWebhook(r, time.Unix(cmp.Or(c.Now, of.Usual.Now), 0),
			[]string{"whsec_" + strings.Repeat("B", 32), cmp.Or(c.Secret, of.Usual.Secret)})
		if c.OK != (err == nil) || !c.OK && !errors.Is(err, ErrWebhook) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}
