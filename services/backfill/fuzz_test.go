package backfill

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/settings"
)

// sent is a request with a body.
func sent(text []byte) echo.Context {
	request := httptest.NewRequest(http.MethodPut, "/", strings.NewReader(string(text)))
	request.Header.Set("Content-Type", "application/json")
	return web.New(slog.New(slog.DiscardHandler), web.Options{}).NewContext(request, httptest.NewRecorder())
}

func readReplacement(text []byte) (*pb.Backfill, error) {
	var in replacement
	if err := web.Decode(sent(text), &in); err != nil {
		return nil, err
	}
	return in.record(fields.Limits{Attributes: 4, Properties: 4, Name: 16})
}

var limits = settings.Default[definition.Limits]()

// FuzzReplacement: whatever a server sends is refused as Invalid, or is stored and comes back as what it was.
func FuzzReplacement(f *testing.F) {
	f.Add([]byte(`{"Id":"x","Created":1,"RecordVersion":2,"Connection":"203.0.113.7:7777","attributes":{"seats":3},"properties":{"map":"aGFyYm91cg=="}}`))
	f.Add([]byte(`{"players":[{"id":"ada","team":"red","role":"tank","attributes":{"a":1}},{"id":"b"}]}`))
	f.Add([]byte(`{"connection":null,"ATTRIBUTES":{"a":1e-5},"properties":null}`))
	f.Add([]byte(`{"Connection":"a b","attributes":{"created":1}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := readReplacement(text)
		if err != nil {
			if problem.KindOf(err) != problem.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if _, err := proto.Marshal(b); err != nil {
			t.Fatalf("%q cannot be stored: %v", text, err)
		}
		c := sent(nil)
		if err := c.JSON(http.StatusOK, bodyOf(b)); err != nil {
			t.Fatal(err)
		}
		answer := c.Response().Writer.(*httptest.ResponseRecorder).Body.Bytes()
		again, err := readReplacement(answer)
		if err != nil {
			t.Fatalf("%q is answered %q: %v", text, answer, err)
		}
		if diff := cmp.Diff(b, again, protocmp.Transform()); diff != "" {
			t.Fatalf("%q is answered %q: %s", text, answer, diff)
		}
	})
}

// FuzzFirst: whatever is sent to the first generation has faults that are listed, or names a function and a connection.
func FuzzFirst(f *testing.F) {
	f.Add([]byte(asked))
	f.Add([]byte(`{"CONNECTION":"a:1","function":{"NAME":"f"},"pools":{"":[{}]},"config":null,"x":[[[]]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		document, err := web.ReadJSON(sent(text))
		if err != nil {
			if problem.KindOf(err) != problem.Invalid {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		r := definition.NewReader(document, limits)
		in := readV1Request(r)
		if _, good := definition.FunctionName(in.function); r.Err() == nil && (!good || in.connection == "") {
			t.Fatalf("%q is read as %+v", text, in)
		}
	})
}
