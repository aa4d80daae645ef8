package openapitest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/openapi/openapitest"
)

const fixtures = "../../../../../sdk/conformance/fixtures"

// The messages that the SDKs are tested with are what the document says.
func TestFixturesOfSDKs(t *testing.T) {
	c, err := openapitest.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(fixtures + "/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if strings.HasSuffix(file, "/events.json") {
				checkEvents(t, c, file)
				return
			}
			var f fixture
			readFixture(t, file, &f)
			f.check(t, c)
		})
	}
}

type fixture struct {
	Method, Path string
	Status       int
	Header       map[string]string
	Body         map[string]any
}

func (f *fixture) check(t *testing.T, c *openapitest.Checker) {
	t.Helper()
	in, err := http.NewRequestWithContext(t.Context(), f.Method, "http://host"+f.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer := openapitest.Answer{Status: f.Status, Header: header("X-Correlation-Id", "conform")}
	if f.Body != nil {
		answer.Header.Set("Content-Type", "application/json")
		if f.Status >= 400 {
			answer.Header.Set("Content-Type", "application/problem+json")
		}
		if answer.Body, err = json.Marshal(f.Body); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range f.Header {
		answer.Header.Set(name, value)
	}
	if err := c.Check(in, answer); err != nil {
		t.Error(err)
	}
}

// checkEvents checks the members of events as a ticket's: the document describes the two together.
func checkEvents(t *testing.T, c *openapitest.Checker, file string) {
	var events []struct {
		Event string
		Data  map[string]any
	}
	readFixture(t, file, &events)
	for _, e := range events {
		delete(e.Data, "reason")
		var ticket fixture
		readFixture(t, fixtures+"/ticket-waiting.json", &ticket)
		maps.Copy(ticket.Body, e.Data)
		ticket.check(t, c)
	}
}

func readFixture(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
