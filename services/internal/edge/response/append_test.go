package response_test

import (
	"math"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

// plain is the JSON that package web makes of a ticket.
func plain(t testing.TB, k *state.Ticket) string {
	t.Helper()
	text, err := json.Marshal(response.NewTicket(k), json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func check(t *testing.T, k *state.Ticket) {
	t.Helper()
	want := plain(t, k)
	if got, err := response.AppendTicket(nil, k); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	created := want[:len(want)-1] + `,"status":null}`
	if got, err := response.AppendCreated([]byte("x"), k); err != nil || string(got) != "x"+created {
		t.Errorf("got  %s, %v\nwant x%s", got, err, created)
	}
}

func TestAppendTicketIsWhatReflectionMakes(t *testing.T) {
	check(t, &state.Ticket{Body: &pb.Ticket{}})
	check(t, &state.Ticket{Body: &pb.Ticket{Id: "a", Queues: []string{"casual", "<\"ranked\">"}},
		Unserved: []string{"casual"}})
	check(t, &state.Ticket{
		Body: &pb.Ticket{Id: "0199e000", Created: 1730800000123,
			AttributeNames:  []string{"a", "b", "c\"\n", "d", "e", "ö"},
			AttributeValues: []float64{0, math.Copysign(0, -1), 1e21, 1e-7, 1200.5, -math.MaxFloat64},
			Properties:      map[string][]byte{"z": nil, "a": {}, "<b>&": []byte("some bytes"), "\u2028": {0xff}}},
		Assignment: &pb.Assignment{Connection: "203.0.113.7:7777", Error: "a \"word\" <of> & \u2028",
			Properties: []byte("{ \"b\" : 1.0,\n\"a\" : [ 1e2, \"<&>\\u00e9\" ] }")},
	})
}

func TestAppendSeatsIsWhatReflectionMakes(t *testing.T) {
	check(t, &state.Ticket{Body: &pb.Ticket{Id: "t"}, Assignment: &pb.Assignment{Connection: "a:1", Match: "m"},
		Seats: map[string]string{"bob": "eyJ.b", "<ada> \"é\"": "eyJ.a"}})
	check(t, &state.Ticket{Body: &pb.Ticket{Id: "t"}, Assignment: &pb.Assignment{Match: "m"}})
}

func TestAppendPlayersIsWhatReflectionMakes(t *testing.T) {
	check(t, &state.Ticket{Body: &pb.Ticket{Id: "t", Players: []*pb.Player{
		{Id: "ada"},
		{Id: "<b> \"ö\"", AttributeNames: []string{"a", "b"}, AttributeValues: []float64{1, -0.5},
			Properties: map[string][]byte{"z": nil, "a": []byte("bytes")}},
		{Id: "c", Properties: map[string][]byte{"empty": {}}},
	}}})
}

func TestAppendAcceptanceIsWhatReflectionMakes(t *testing.T) {
	for _, open := range [][]string{nil, {"ada"}, {"<b> \"ö\"", "bob"}} {
		check(t, &state.Ticket{Body: &pb.Ticket{Id: "t", Queues: []string{"ranked"}}, Matched: true,
			Acceptance: &state.Acceptance{Match: "m \"1\"", Left: 1500 * time.Millisecond, Players: 10, Accepted: 3,
				Open: open}})
	}
}

func TestAppendEstimateIsWhatReflectionMakes(t *testing.T) {
	check(t, &state.Ticket{Body: &pb.Ticket{Id: "t"}, Estimate: &state.Estimate{Low: 0, High: 1500 * time.Millisecond}})
}

func FuzzAppendTicket(f *testing.F) {
	f.Add("id", "name", 1.5, []byte("bytes"), int64(7), "host:1", "", []byte(`{"a":[1,{"b":null}]}`))
	f.Fuzz(func(t *testing.T, id, name string, value float64, property []byte, created int64, connection, reason string,
		properties []byte) {
		k := &state.Ticket{
			Body: &pb.Ticket{Id: id, Created: created, AttributeNames: []string{name}, AttributeValues: []float64{value},
				Properties: map[string][]byte{name: property, "other": nil},
				Players:    []*pb.Player{{Id: reason, Properties: map[string][]byte{id: property}}, {Id: connection}}},
			Assignment: &pb.Assignment{Connection: connection, Error: reason, Properties: properties},
		}
		want, failed := json.Marshal(response.NewTicket(k), json.Deterministic(true))
		got, err := response.AppendTicket(nil, k)
		if (err == nil) != (failed == nil) && !math.IsNaN(value) && !math.IsInf(value, 0) {
			t.Fatalf("%v, want %v", err, failed)
		}
		if err == nil && failed == nil && string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func BenchmarkTicket(b *testing.B) {
	k := &state.Ticket{
		Body: &pb.Ticket{Id: "0199e000-0000-7000-8000-000000000000", Created: 1730800000123,
			AttributeNames: []string{"level", "region", "skill"}, AttributeValues: []float64{12, 2, 1500},
			Properties: map[string][]byte{"loadout": []byte("some loadout of a player")}},
		Assignment: &pb.Assignment{Connection: "203.0.113.7:7777", MatchProperties: []byte(`{"map":"harbour"}`)},
	}
	b.Run("reflection", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			plain(b, k)
		}
	})
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := response.AppendTicket(make([]byte, 0, 512), k); err != nil {
				b.Fatal(err)
			}
		}
	})
}
