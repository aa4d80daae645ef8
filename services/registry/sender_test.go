package registry

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
)

// slowUpload begins an upload of a project on a connection of its own, and sends next to nothing of it. The answer goes
// to answers when there is one.
func (b *bench) slowUpload(t *testing.T, project string, answers chan<- string) {
	t.Helper()
	server, err := url.Parse(b.url)
	must(t, err)
	token := b.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: project, Role: "Manager"})
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Host)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = fmt.Fprintf(c, "PUT /%s/matchmaking/api/v1/functions/slow HTTP/1.1\r\nHost: test\r\n"+
		"Authorization: Bearer %s\r\nContent-Type: application/octet-stream\r\nContent-Length: 8000000\r\n\r\n\x00asm",
		project, token)
	must(t, err)
	go func() {
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return // the test has ended
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		answers <- fmt.Sprintf("%d %s %v", res.StatusCode, text, err)
	}()
}

// However many connections send slowly, an honest upload of another project is taken.
func TestSlowConnectionsHoldUpNoOther(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	const projects, each = 10, 4
	answers := make(chan string, projects*each)
	for n := range projects * each {
		b.slowUpload(t, fmt.Sprint("stranger", n%projects), answers)
	}
	eventually(t, "all of them are under way", func() error {
		if n, _ := b.registry.admission.uploads.Used(); n != projects*each {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
	wants[response.Function](t, b.put(t, "/functions/honest", guest{}.wasm()), http.StatusOK)
	if n := len(answers); n > 0 {
		t.Errorf("%d were answered meanwhile: %s", n, <-answers)
	}
}
