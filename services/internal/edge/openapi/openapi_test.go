package openapi_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"matchmaker.dev/services/internal/edge/openapi"
	"matchmaker.dev/services/internal/edge/web"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	text, err := openapi.JSON()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestValid holds the document against OpenAPI 3.1, and every example in it against its schema.
func TestValid(t *testing.T) {
	doc := document(t)
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("it is of version %s, want 3.1", doc.OpenAPI)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(),
		openapi3.EnableSchemaPatternValidation()); err != nil {
		t.Error(err)
	}
}

// TestExamples finds requests and answers in JSON that have no example.
func TestExamples(t *testing.T) {
	for path, item := range document(t).Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + path
			if body := operation.RequestBody; body != nil {
				exampled(t, name+" request", body.Value.Content)
			}
			for status, answer := range operation.Responses.Map() {
				exampled(t, name+" "+status, answer.Value.Content)
			}
		}
	}
}

func exampled(t *testing.T, name string, content openapi3.Content) {
	t.Helper()
	for kind, media := range content {
		if strings.Contains(kind, "json") && media.Example == nil && len(media.Examples) == 0 {
			t.Errorf("%s: no example of %s", name, kind)
		}
	}
}

// TestComplete finds operations that leave out what every operation must have.
func TestComplete(t *testing.T) {
	for path, item := range document(t).Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + path
			if operation.OperationID == "" || operation.Summary == "" || len(operation.Tags) == 0 || operation.Security == nil {
				t.Errorf("%s: an operationId, a summary, a tag or security is missing", name)
			}
			all := map[string]bool{"413": true, "406": method != http.MethodDelete, // as of any path
				"401": operation.Security != nil && len(*operation.Security) > 0,
				"415": operation.RequestBody != nil && operation.RequestBody.Value.Content["application/json"] != nil}
			for status, may := range all {
				if may && operation.Responses.Value(status) == nil {
					t.Errorf("%s: the answer %s is missing", name, status)
				}
			}
			for status, answer := range operation.Responses.Map() {
				if answer.Value.Headers["X-Correlation-Id"] == nil {
					t.Errorf("%s: the answer %s has no X-Correlation-Id", name, status)
				}
			}
		}
	}
}

func TestServed(t *testing.T) {
	part, err := openapi.New()
	if err != nil {
		t.Fatal(err)
	}
	e := web.New(slog.New(slog.DiscardHandler), web.Options{})
	part.Routes(e)
	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, openapi.Path, nil))
	text, _ := io.ReadAll(answer.Body)
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "application/json" || !json.Valid(text) {
		t.Fatalf("got %d, %v, %.100s", answer.Code, answer.Header(), text)
	}
	if want, _ := openapi.JSON(); string(text) != string(want) {
		t.Errorf("got %.100s…, want the document", text)
	}
}
