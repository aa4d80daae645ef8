package insight_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/state"
)

// arrivals is an answer with what was created.
type arrivals struct {
	Events []struct {
		Kind     string
		Arrivals json.RawMessage
	}
}

// create creates a ticket.
func (w *world) create(t *testing.T, k *pb.Ticket) string {
	t.Helper()
	k.Id, k.Created = state.NewID(w.store.Now()), w.store.Now().UnixMilli()
	_, err := w.store.Creator(nil).CreateAs(t.Context(), "demo", state.Creation{Ticket: k})
	must(t, err)
	return k.GetId()
}

func TestCreatedEventsHaveTheTicketsIfAsked(t *testing.T) {
	w := start(t, nil)
	f := w.follow(t, "arrivals=true", "")
	f.cursor()
	one := w.create(t, &pb.Ticket{Owner: "ada", AttributeNames: []string{"skill"}, AttributeValues: []float64{1200},
		Properties: map[string][]byte{"secret": []byte("hidden")}, Queues: []string{"quick"}})
	party := w.create(t, &pb.Ticket{Owner: "lobby", Players: []*pb.Player{
		{Id: "bob", AttributeNames: []string{"role"}, AttributeValues: []float64{2}}, {Id: "cyd"}}})
	gone := w.create(t, &pb.Ticket{Owner: "dan"})
	_, err := w.store.DeleteTicket(t.Context(), "demo", gone, "dan")
	must(t, err)
	w.publish(t, "demo", of(created, "", "", one, gone), of(created, "", "", party), of(claimed, "m", "c", one, party))
	const (
		first  = `[{"attributes":{"skill":1200},"queues":["quick"],"players":[{"id":"ada"}]},null]`
		second = `[{"attributes":{},"players":[{"id":"bob","attributes":{"role":2}},{"id":"cyd"}]}]`
	)
	var got arrivals
	w.read(t, "/events?arrivals=true", http.StatusOK, &got)
	for i, want := range []string{first, second, ""} {
		if string(got.Events[i].Arrivals) != want {
			t.Errorf("event %d has %s, want %s", i, got.Events[i].Arrivals, want)
		}
	}
	if text := w.text(t, "/events"); strings.Contains(text, `"ada"`) || strings.Contains(text, "arrivals") {
		t.Errorf("nobody asked for arrivals: %s", text)
	}
	if text := w.text(t, "/events?arrivals=true"); strings.Contains(text, "hidden") || strings.Contains(text, "aGlkZGVu") {
		t.Errorf("properties are told: %s", text)
	}
	// A stream has the same.
	var stream strings.Builder
	for f.lines.Scan() && !strings.Contains(f.lines.Text(), `"kind":"claimed"`) {
		stream.WriteString(f.lines.Text())
	}
	if text := stream.String(); !strings.Contains(text, first) || !strings.Contains(text, second) {
		t.Errorf("the stream is %s", text)
	}
	var problem struct{ Detail string }
	w.read(t, "/events?arrivals=yes", http.StatusBadRequest, &problem)
	if !strings.Contains(problem.Detail, "query parameter arrivals: true or false is expected") {
		t.Error(problem.Detail)
	}
}

// A query gets properties if it asks for them and its role may see them.
func TestArrivalsHavePropertiesIfAsked(t *testing.T) {
	w := start(t, nil)
	properties := map[string][]byte{"note": []byte("hidden")}
	one := w.create(t, &pb.Ticket{Owner: "ada", Properties: properties, Players: []*pb.Player{
		{Id: "ada", Properties: map[string][]byte{"roles": []byte("tank")}}, {Id: "bob"}}})
	w.publish(t, "demo", of(created, "", "", one))
	const asked = "/events?arrivals=true&properties=true"
	var problem struct{ Detail string }
	w.read(t, asked, http.StatusForbidden, &problem) // the role is Support
	if !strings.Contains(problem.Detail, "unless support.properties is set") {
		t.Error(problem.Detail)
	}
	support := w.token
	w.token = w.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Manager"})
	var got arrivals
	w.read(t, asked, http.StatusOK, &got)
	w.token = support
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{Revision: 1, SupportProperties: true}, 0))
	w.read(t, asked, http.StatusOK, new(arrivals))
	const want = `[{"attributes":{},"properties":{"note":"aGlkZGVu"},"players":[` +
		`{"id":"ada","properties":{"roles":"dGFuaw=="}},{"id":"bob"}]}]`
	if text := string(got.Events[0].Arrivals); text != want {
		t.Errorf("it is %s", text)
	}
	w.read(t, "/events?properties=true", http.StatusBadRequest, &problem)
	if !strings.Contains(problem.Detail, "query parameter properties: arrivals=true is needed") {
		t.Error(problem.Detail)
	}
	w.read(t, "/events?arrivals=true&properties=1", http.StatusBadRequest, &problem)
	if !strings.Contains(problem.Detail, "query parameter properties: true or false is expected") {
		t.Error(problem.Detail)
	}
}

// However large properties are, the answer to a message is bounded.
func TestPropertiesOfArrivalsAreBounded(t *testing.T) {
	w := start(t, nil)
	var ids []string
	for range 100 {
		ids = append(ids, w.create(t, &pb.Ticket{Owner: "ada", Properties: map[string][]byte{"big": make([]byte, 30_000)}}))
	}
	w.publish(t, "demo", of(created, "", "", ids...))
	w.token = w.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "s", Project: "demo", Role: "Owner"})
	var got arrivals
	w.read(t, "/events?arrivals=true&properties=true", http.StatusOK, &got)
	var list []*struct{ Properties map[string][]byte }
	must(t, json.Unmarshal(got.Events[0].Arrivals, &list))
	n := 0
	for _, one := range list {
		if one != nil && len(one.Properties["big"]) == 30_000 {
			n++
		}
	}
	// 40 KB each.
	if len(list) != 100 || n < 10 || n > 20 {
		t.Errorf("%d of %d tickets are told", n, len(list))
	}
}

// However large tickets are, the answer to a message is bounded.
func TestArrivalsAreBounded(t *testing.T) {
	w := start(t, nil)
	names, values := make([]string, 60), make([]float64, 60)
	for i := range names {
		names[i] = strings.Repeat("n", 100) + string(rune('a'+i/26)) + string(rune('a'+i%26))
	}
	var ids []string
	for range 300 {
		ids = append(ids, w.create(t, &pb.Ticket{Owner: "ada", AttributeNames: names, AttributeValues: values}))
	}
	w.publish(t, "demo", of(created, "", "", ids...))
	var got arrivals
	w.read(t, "/events?arrivals=true", http.StatusOK, &got)
	var list []*struct{ Attributes map[string]float64 }
	must(t, json.Unmarshal(got.Events[0].Arrivals, &list))
	n := 0
	for _, one := range list {
		if one != nil {
			n++
		}
	}
	// About 7.8 KB each.
	if len(list) != 300 || n < 50 || n > 100 {
		t.Errorf("%d of %d tickets are told", n, len(list))
	}
}
