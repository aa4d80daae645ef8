package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHealth: a container's health check exits 0 for a service that is ready, and says why one is not. It finds the
// settings of the services beside it, and needs none of them.
func TestHealth(t *testing.T) {
	t.Setenv("MATCHMAKER_CONFIG", "../../../deploy/settings.yaml")
	status := http.StatusOK
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("not ready: nats"))
	}))
	defer service.Close()
	for _, path := range []string{"/readyz", "", "/"} {
		if code, _, errs := matchmaker(t, "health", service.URL+path); code != exitOK {
			t.Errorf("%q: %d: %s", path, code, errs)
		}
	}
	status = http.StatusServiceUnavailable
	if code, _, errs := matchmaker(t, "health", service.URL+"/readyz"); code != exitFailure ||
		!strings.Contains(errs, "503 Service Unavailable: not ready: nats") {
		t.Errorf("%d: %s", code, errs)
	}
	if code, _, errs := matchmaker(t, "health", "http://127.0.0.1:1/readyz"); code != exitFailure ||
		!strings.Contains(errs, "connect") {
		t.Errorf("%d: %s", code, errs)
	}
}

// TestInterruptedCommandsAreNoSuccess: what Ctrl-C ends before its end did not do what it was to do.
func TestInterruptedCommandsAreNoSuccess(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}))
	t.Cleanup(service.Close)
	for _, args := range [][]string{{"health", service.URL}, {"project", "list"}, {"project", "delete", "x", "--yes"}} {
		var out, errs strings.Builder
		code := run(ctx, args, &out, &errs)
		if code != exitInterrupted || !strings.Contains(errs.String(), "context canceled") {
			t.Errorf("%q: %d, %q", args, code, errs.String())
		}
	}
}
