package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

func TestDocument(t *testing.T) {
	for name, text := range map[string]string{
		"object":                `{"a":1e999,"a":"\ud83d\ude00"}`,
		"spaces around":         " \n[1,2]\t",
		"null":                  "null",
		"nesting of 40":         strings.Repeat("[", 40) + strings.Repeat("]", 40),
		"duplicates, any depth": `{"a":{"b":1,"b":2}}`,
	} {
		v, err := read([]byte(text))
		if err != nil || string(v) != strings.TrimSpace(text) {
			t.Errorf("%s: %s, %v", name, v, err)
		}
	}
	for _, text := range []string{"\ufeff[1]", "\xff\xfe[\x001\x00]\x00", "\xfe\xff\x00[\x001\x00]",
		"[\x001\x00]\x00", "\x00[\x001\x00]"} {
		if v, err := read([]byte(text)); err != nil || string(v) != "[1]" {
			t.Errorf("%q: %s, %v", text, v, err)
		}
	}
	for name, test := range map[string]struct{ text, want string }{
		"empty":         {" \n", "the body is empty"},
		"early end":     {`{"a":`, "it ends too early"},
		"trailing":      {`{}{}`, "the body is not JSON"},
		"not JSON":      {`{a}`, "the body is not JSON"},
		"NaN":           {`{"a":NaN}`, "the body is not JSON"},
		"UTF-32":        {"\xff\xfe\x00\x00[\x00\x00\x00", "the body: it is UTF-32"},
		"not UTF-8":     {"{\"a\":\"\xff\"}", "a: not UTF-8"},
		"nesting of 41": {strings.Repeat("[", 41) + strings.Repeat("]", 41), "nest deeper than 40"},
	} {
		_, err := read([]byte(test.text))
		if problem.KindOf(err) != problem.Invalid || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q in it", name, err, test.want)
		}
	}
}

func TestPathParameters(t *testing.T) {
	e := New(slog.New(slog.DiscardHandler), Options{})
	e.GET("/a/:id", func(c echo.Context) error { return c.String(http.StatusOK, c.Param("id")) })
	for path, want := range map[string]string{
		"/a/plain": "plain", "/a/a%2Eb": "a.b", "/a/a%2Fb": "a/b", "/a/a%20b": "a b", "/a/100%25": "100%",
		"/a/%2525": "%25", "/a/%252F": "%2F", "/a/%2e%2e": "..", "/a/%61%62": "ab",
		"/a/%2e%2e%2f%2e%2e": "../..",
	} {
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if got := answer.Body.String(); answer.Code != http.StatusOK || got != want {
			t.Errorf("%s: %d %q, want %q", path, answer.Code, got, want)
		}
	}
}
