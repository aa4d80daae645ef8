package transport

import (
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/pkg/client/transporttest"
	"matchmaker.dev/services/allocator/provider/conformance"
)

// A call over a connection that died has no answer. Nor have the calls after it, as long as the connection is in use. A
// new one may take most of the time of a call.
func TestConnectionThatDiesSilentlyIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		authority := conformance.NewAuthority(t)
		network := transporttest.Serve(4*time.Second, authority.Server(t, time.Now().Add(time.Hour)))
		defer network.Close(t)
		client, err := New(Options{CA: authority.File, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		client.client.Transport.(*http.Transport).DialContext = network.DialContext
		call := func() (string, error) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://127.0.0.1/", nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Do(t.Context(), r)
			if err != nil {
				return "", err
			}
			return string(answer.Body), nil
		}
		if got, err := call(); err != nil || got != "HTTP/2.0" {
			t.Fatal(got, err)
		}
		network.Silence()
		if _, err := call(); err == nil {
			t.Error("an answer over a dead connection")
		}
		<-time.After(45 * time.Second)
		if got, err := call(); err != nil || got != "HTTP/2.0" || network.Dialled() != 2 {
			t.Errorf("%q, %v, %d connections", got, err, network.Dialled())
		}
	})
}
