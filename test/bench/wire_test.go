package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestWireReadsOneAnswerAfterTheOther(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Filler", strings.Repeat("x", 1000))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization")+" "+string(body))
	}))
	defer server.Close()
	host := hostOf(server.URL)
	w, err := dial(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.patience(time.Now().Add(10 * time.Second))
	for request, want := range map[string]string{
		string(post(host, "/a", "secret", "", `{"b":1}`)): `POST /a Bearer secret {"b":1}`,
		string(get(host, "/a?id=7", "other", "")):         `GET /a?id=7 Bearer other `,
	} {
		for range 2 {
			status, body, err := w.do([]byte(request))
			if err != nil || status != http.StatusCreated || string(body) != want {
				t.Fatalf("got %d %q, %v, want 201 %q", status, body, err, want)
			}
		}
	}
}

func TestWireReadsHeadersBeforeTheBody(t *testing.T) {
	more := make(chan struct{})
	text := strings.Repeat("x", 64<<10) // net/http sends it in chunks
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = io.WriteString(w, text)
	}))
	defer server.Close()
	w, err := dial(t.Context(), hostOf(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.patience(time.Now().Add(10 * time.Second))
	for range 2 {
		status, length, err := w.begin(get(hostOf(server.URL), "/", "", ""))
		if err != nil || status != http.StatusCreated || length != chunked {
			t.Fatalf("got %d and a body of %d, %v", status, length, err)
		}
		more <- struct{}{}
		body, err := w.rest(length)
		if err != nil || string(body) != text {
			t.Fatalf("got %d bytes, %v, want %d", len(body), err, len(text))
		}
	}
}

func TestWireRefusesWhatItCannotRead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Transfer-Encoding", "identity") // the body ends with the connection
		_, _ = io.WriteString(w, strings.Repeat("x", 64<<10))
	}))
	defer server.Close()
	w, err := dial(t.Context(), hostOf(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	w.patience(time.Now().Add(10 * time.Second))
	if _, _, err := w.do(get(hostOf(server.URL), "/", "", "")); err == nil ||
		!strings.Contains(err.Error(), "Content-Length") {
		t.Errorf("got %v, want an error about Content-Length", err)
	}
}

func TestVolleyMeasuresTheBareHandler(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- (&bare{}).Run(ctx, writer) }()
	url := make([]byte, 64)
	n, err := reader.Read(url)
	if err != nil {
		t.Fatal(err)
	}
	host := hostOf(strings.TrimSpace(string(url[:n])))
	v := &volley{address: host, connections: 2, over: 500 * time.Millisecond,
		requests: creations(host, "p", []string{"a", "b", "c"})}
	r, err := v.run(t.Context())
	for err == nil && len(r.times) == 0 && v.over < time.Minute { // the machine stood still after the warm-up
		v.over *= 4
		r, err = v.run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(r.times) == 0 || r.answers <= len(r.times) || r.rate <= 0 {
		t.Errorf("got %d answers, %d of them measured, %v a second: want some before and some after the warm-up", r.answers,
			len(r.times), r.rate)
	}
	v.over = 0
	if r, err = v.run(t.Context()); err != nil || r.answers != len(v.requests) || len(r.times) != r.answers {
		t.Errorf("got %+v, %v for requests that are sent once", r, err)
	}
	v.requests = [][]byte{post(host, "/elsewhere", "a", "", "{}")}
	if _, err := v.run(t.Context()); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v for requests that are not answered 201, want an error with the status", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the bare handler ended with %v", err)
	}
}
