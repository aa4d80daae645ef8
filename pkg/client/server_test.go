package client_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// bearer is a token of which only the times matter here.
func bearer(name string, issued, expires time.Time) string {
	claims := fmt.Sprintf(`{"jti":%q,"iat":%d,"exp":%d}`, name, issued.Unix(), expires.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".sig"
}

func TestServerTokensAreRenewedInTime(t *testing.T) {
	now := time.Now()
	old, next := bearer("old", now.Add(-50*time.Minute), now.Add(10*time.Minute)), bearer("next", now, now.Add(time.Hour))
	var renewed atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/demo/matchmaking/api/v1/servers/token" ||
			r.Header.Get("Authorization") != "Bearer "+old {
			t.Errorf("%s %s with %s", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		renewed.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"token":%q,"expires":%d}`, next, now.Add(time.Hour).UnixMilli())
	}))
	defer service.Close()
	source := client.ServerTokens(client.Options{URL: service.URL, Project: "demo"}, old)
	for range 3 {
		if got, err := source(t.Context()); err != nil || got != next {
			t.Errorf("%s, %v, want %s", got, err, next)
		}
	}
	if n := renewed.Load(); n != 1 {
		t.Errorf("renewed %d times", n)
	}
}

func TestRenewServerToken(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"status":403,"detail":"the allocation of this server has ended"}`)
	}))
	defer service.Close()
	c, err := client.New(client.Options{URL: service.URL, Project: "demo", Token: client.StaticToken("t")})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.RenewServerToken(t.Context()); client.Status(err) != http.StatusForbidden {
		t.Errorf("%v, %v", got, err)
	}
}

// The client that asks for the next token is the one that needs it.
func TestSourceRenewsWithItsOwnClient(t *testing.T) {
	now := time.Now()
	old, next := bearer("old", now.Add(-50*time.Minute), now.Add(10*time.Minute)), bearer("next", now, now.Add(time.Hour))
	var sent []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			fmt.Fprintf(w, `{"token":%q,"expires":%d}`, next, now.Add(time.Hour).UnixMilli())
			return
		}
		fmt.Fprint(w, `{"id":"x"}`)
	}))
	defer service.Close()
	var own *client.Client
	source := client.RenewedToken(old, func(ctx context.Context, _ string) (string, error) {
		got, err := own.RenewServerToken(ctx)
		if err != nil {
			return "", err
		}
		return got.Token, nil
	})
	own, err := client.New(client.Options{URL: service.URL, Project: "demo", Token: source})
	if err != nil {
		t.Fatal(err)
	}
	if err := getOne(t.Context(), own); err != nil {
		t.Error(err)
	}
	if want := []string{"Bearer " + old, "Bearer " + next}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}
