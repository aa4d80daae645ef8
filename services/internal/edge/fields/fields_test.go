package fields_test

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

var limits = fields.Limits{Attributes: 3, Properties: 2, Name: 8}

// read reads a body as services do.
func read(text []byte) (fields.Values, error) {
	var p fields.Values
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(text)))
	request.Header.Set("Content-Type", "application/json")
	e := web.New(slog.New(slog.DiscardHandler), web.Options{})
	err := web.Decode(e.NewContext(request, httptest.NewRecorder()), &p)
	return p, errors.Join(err, p.Check(limits))
}

func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "",
		`{"attributes":{"a":1,"b":2,"c":3},"properties":{"12345678":"","b":"YQ=="}}`: "",
		`{"attributes":{"a":1,"b":2,"c":3,"d":4}}`:                                   "attributes: 4 of them",
		`{"properties":{"a":"","b":"","c":""}}`:                                      "properties: 3 of them",
		`{"attributes":{"":1}}`:                                                      "attributes: a name is empty",
		`{"attributes":{"123456789":1}}`:                                             "attributes.123456789…: the name has 9 bytes",
		`{"properties":{"":""}}`:                                                     "properties: a name is empty",
		`{"properties":{"äöüäö":""}}`:                                                "properties.äöüäö…: the name has 10 bytes",
		`{"attributes":{"created":1}}`:                                               "attributes.created: the service sets",
		`{"attributes":{"Created":1},"properties":{"created":""}}`:                   "",
	} {
		_, err := read([]byte(body))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", body, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || problem.KindOf(err) != problem.Invalid):
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

// FuzzValues: whatever is sent is refused as Invalid, or is within the limits and comes back the same.
func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"attributes":{"skill":1200,"latency-eu":24.5},"properties":{"loadout":"c3dvcmQ="}}`))
	f.Add([]byte(`{"ATTRIBUTES":{"a":1e308,"A":-0.0},"properties":{"x":""}}`))
	f.Add([]byte(`{"attributes":{"created":1},"properties":null}`))
	f.Add([]byte("{\"attributes\":{\"\xff\":NaN}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := read(text)
		if err != nil {
			if kind := problem.KindOf(err); kind != problem.Invalid && kind != problem.TooLarge {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for name, value := range p.Attributes {
			if name == "" || name == fields.Created || len(name) > limits.Name || math.IsNaN(value) || math.IsInf(value, 0) {
				t.Fatalf("%q: the attribute %q is %v", text, name, value)
			}
		}
		names, values := p.Columns()
		if !slices.IsSorted(names) || len(values) != len(names) {
			t.Fatalf("%q: the columns are %q, %v", text, names, values)
		}
		again, err := json.Marshal(fields.Values{Attributes: fields.Attributes(names, values), Properties: p.Properties})
		if err != nil {
			t.Fatal(err)
		}
		q, err := read(again)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, again, err)
		}
		if p.Attributes == nil {
			p.Attributes = map[string]float64{}
		}
		if p.Properties == nil {
			p.Properties = map[string][]byte{}
		}
		if diff := cmp.Diff(p, q); diff != "" {
			t.Fatalf("%q became %q: %s", text, again, diff)
		}
	})
}

func TestCheckPlayers(t *testing.T) {
	limits := fields.Limits{Attributes: 2, Properties: 1, Players: 3, Name: 8}
	long := strings.Repeat("x", 257)
	for body, want := range map[string]string{
		`null`: "",
		`[{"id":"ada"},{"id":"bob","attributes":{"a":1,"b":2},"properties":{"p":""}},{"id":"Ada"}]`: "",
		`[]`:                                 "players: the list is empty",
		`[{}]`:                               "players.0.id: up to 256 bytes",
		`[{"id":"ada"},{}]`:                  "players.1.id: up to 256 bytes",
		`[{"id":"a\nb"}]`:                    "players.0.id: up to 256 bytes",
		`[{"id":"` + long + `"}]`:            "players.0.id: up to 256 bytes",
		`[{"id":"a"},{"id":"b"},{"id":"a"}]`: "players.2.id: the same player as players.0",
		`[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]`:            "players: 4 of them, at most 3",
		`[{"id":"a"},{"id":"b","attributes":{"a":1,"b":2,"c":3}}]`: "players.1.attributes: 3 of them, at most 2",
		`[{"id":"a","properties":{"a":"","b":""}}]`:                "players.0.properties: 2 of them, at most 1",
		`[{"id":"a","attributes":{"created":1}}]`:                  "players.0.attributes.created: the service sets",
		`[{"id":"a","attributes":{"":1}}]`:                         "players.0.attributes: a name is empty",
		`[{"id":"a","properties":{"123456789":""}}]`:               "players.0.properties.123456789…: the name has 9 bytes",
	} {
		var players []fields.Player
		if err := json.Unmarshal([]byte(body), &players); err != nil {
			t.Fatal(err)
		}
		err := fields.CheckPlayers(players, limits)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", body, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || problem.KindOf(err) != problem.Invalid):
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}
