package instant_test

import (
	"testing"

	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

// Promise 7.
func TestConformance(t *testing.T) {
	// It has no books, no limits, and tells its servers nothing: there are none.
	conformance.Run(t, func(*testing.T) conformance.Fixture {
		return conformance.Fixture{Provider: instant.New("127.0.0.1:7777")}
	})
}

func TestConnection(t *testing.T) {
	got, err := instant.New("play.example.com:7777").Allocate(t.Context(), &provider.Request{})
	if err != nil || got != (provider.Result{Status: provider.Allocated, Connection: "play.example.com:7777"}) {
		t.Errorf("Allocate() = %+v, %v", got, err)
	}
}
