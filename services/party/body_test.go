package party_test

import (
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
)

func TestBodiesOfAProjectAreLimited(t *testing.T) {
	w := startAt(t, nil, func(o *party.Options) { o.Bodies = state.Rate{PerSecond: 1, Burst: 1 << 16} })
	large := "{" + strings.Repeat(" ", 40<<10) + "}"
	for i, want := range []int{http.StatusCreated, http.StatusCreated, http.StatusTooManyRequests} { // two processes
		if status, _ := w.as([]string{"ada", "bob", "eve"}[i], http.MethodPost, "", large); status != want {
			t.Errorf("request %d: %d, want %d", i+1, status, want)
		}
	}
	if status, _ := w.as("eve", http.MethodPost, "", "{}"); status != http.StatusCreated {
		t.Errorf("a small one: %d", status)
	}
}
