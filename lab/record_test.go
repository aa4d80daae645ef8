package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/lab/recording"
)

// record writes events, and returns the file and what it has.
func record(t *testing.T, events ...client.Event) (file []byte, read []*recording.Event, r *recorder) {
	t.Helper()
	var out bytes.Buffer
	w, err := recording.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	r = newRecorder(w)
	for i := range events {
		events[i].Time = time.UnixMilli(1000 + int64(i))
		if err := r.add(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := recording.NewReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for {
		e, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), read, r
		}
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, e)
	}
}

func TestRecordingNamesNobody(t *testing.T) {
	ada := &client.Arrival{Attributes: map[string]float64{"skill": 1200, "level": 3}, Queues: []string{"quick"},
		Players: []client.Player{{ID: "ada"}, {ID: "bob", Attributes: map[string]float64{"role": 1}}}}
	bob := &client.Arrival{Attributes: map[string]float64{}, Players: []client.Player{{ID: "bob"}}}
	file, got, r := record(t,
		client.Event{Kind: "created", Tickets: []string{"t-ada", "t-gone", "t-bob"},
			Arrivals: []*client.Arrival{ada, nil, bob}},
		client.Event{Kind: "claimed", Tickets: []string{"t-before", "t-bob", "t-ada"}, Match: "match-id", Config: "ranked"},
		client.Event{Kind: "accepted", Tickets: []string{"t-ada"}, Match: "match-id"},
		client.Event{Kind: "released", Tickets: []string{"t-bob"}, Match: "match-id", Config: "ranked"},
		client.Event{Kind: "cancelled", Tickets: []string{"t-bob"}},
		client.Event{Kind: "gap"},
		client.Event{Kind: "assigned", Tickets: []string{"t-ada"}, Match: "other-match", Config: "ranked"},
		client.Event{Kind: "cancelled", Tickets: []string{"t-ada"}, Reason: "resolved"},
		client.Event{Kind: "expired", Tickets: []string{"t-before"}},
	)
	want := []*recording.Event{
		{Time: 1000, Kind: recording.Arrived, Tickets: []uint64{1}, Arrival: &recording.Arrival{Known: true,
			Queues:     []string{"quick"},
			Attributes: recording.Attributes{Names: []string{"level", "skill"}, Values: []float64{3, 1200}},
			Players: []recording.Player{{Number: 1}, {Number: 2, Attributes: recording.Attributes{Names: []string{"role"},
				Values: []float64{1}}}}}},
		{Time: 1000, Kind: recording.Arrived, Tickets: []uint64{2}, Arrival: &recording.Arrival{}},
		{Time: 1000, Kind: recording.Arrived, Tickets: []uint64{3}, Arrival: &recording.Arrival{Known: true,
			Players: []recording.Player{{Number: 2}}}},
		{Time: 1001, Kind: recording.Claimed, Tickets: []uint64{3, 1}, Match: 1, Config: "ranked"},
		{Time: 1003, Kind: recording.Released, Tickets: []uint64{3}, Match: 1, Config: "ranked"},
		{Time: 1004, Kind: recording.Cancelled, Tickets: []uint64{3}},
		{Time: 1005, Kind: recording.Gap},
		{Time: 1006, Kind: recording.Assigned, Tickets: []uint64{1}, Match: 2, Config: "ranked"},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("event %d of %d is another one: %+v", i, len(got), got[min(i, len(got)-1)])
		}
	}
	id := r.out.ID() // it is random
	for _, name := range []string{"ada", "bob", "t-", "match-id"} {
		if bytes.Contains(bytes.Replace(file, id[:], nil, 1), []byte(name)) {
			t.Errorf("the file has %q", name)
		}
	}
	if len(r.tickets.of) != 1 || r.unknown != 1 || r.gaps != 1 {
		t.Errorf("%d tickets are remembered, %d were unknown, %d gaps", len(r.tickets.of), r.unknown, r.gaps)
	}
}

// A ticket that the format does not take is one of which nothing is known.
func TestTicketBeyondTheFormatIsUnknown(t *testing.T) {
	_, got, r := record(t, client.Event{Kind: "created", Tickets: []string{"a"}, Arrivals: []*client.Arrival{
		{Attributes: map[string]float64{"with\x00zero": 1}, Players: []client.Player{{ID: "ada"}}}}})
	if len(got) != 1 || got[0].Arrival.Known || r.unknown != 1 {
		t.Errorf("%+v, %d", got, r.unknown)
	}
}

// With the list of players, a player is taken out of a recording.
func TestPlayersAreErasedFromARecording(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, arrivals ...*client.Arrival) {
		t.Helper()
		r, files, err := recordStart{Out: at(name + ".mmrec"), Players: at(name + ".players")}.begin()
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range arrivals {
			err := r.add(&client.Event{Kind: "created", Tickets: []string{fmt.Sprint(i)}, Arrivals: []*client.Arrival{a}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if size := r.size(); size < 50 {
			t.Errorf("the files have %d bytes", size)
		}
		if err := files.close(); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (known []string) {
		t.Helper()
		file, err := os.Open(at("day.mmrec"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		r, err := recording.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for e, err := r.Next(); err == nil; e, err = r.Next() {
			if e.Arrival.Known {
				known = append(known, string(e.Arrival.Properties.Values[0])+string(e.Arrival.Players[0].Properties.Values[0]))
			}
		}
		return known
	}
	ticket := func(note string, players ...string) *client.Arrival {
		a := &client.Arrival{Properties: map[string][]byte{"note": []byte(note)}}
		for _, id := range players {
			a.Players = append(a.Players, client.Player{ID: id, Properties: map[string][]byte{"of": []byte(id)}})
		}
		return a
	}
	write("day", ticket("1", "ada"), ticket("2", "bob"), ticket("3", "bob", "ada"), ticket("4", "cyd"))
	write("other", ticket("1", "ada"))
	expect := func(player, list, wantNote, wantErr string) {
		t.Helper()
		note := ""
		terminal := &Terminal{Note: func(format string, args ...any) { note = fmt.Sprintf(format, args...) }}
		err := recordErase{File: at("day.mmrec"), ID: player, Players: at(list + ".players")}.Run(terminal)
		if !strings.HasSuffix(note, wantNote) || (err == nil) != (wantErr == "") ||
			err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("erasing %s by the list %s: %q, %v", player, list, note, err)
		}
	}
	expect("ada", "other", "", "other.players is the list of another recording")
	expect("dan", "day", "nothing was erased", "")
	if got := read(); !slices.Equal(got, []string{"1ada", "2bob", "3bob", "4cyd"}) {
		t.Fatalf("it has %q", got)
	}
	expect("ada", "day", "erased the player's tickets from "+at("day.mmrec")+": 2", "")
	if got := read(); !slices.Equal(got, []string{"2bob", "4cyd"}) {
		t.Errorf("it has %q", got)
	}
	text, err := os.ReadFile(at("day.players"))
	if err != nil || !strings.HasSuffix(string(text), "\n2\tbob\n3\tcyd\n") {
		t.Errorf("the list is %q, %v", text, err)
	}
	expect("ada", "day", "nothing was erased", "")

	// A recording that is not whole stays as it is, and so does the list.
	whole, err := os.ReadFile(at("day.mmrec"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("day.mmrec"), whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	expect("bob", "day", "", "the recording is incomplete")
	if after, err := os.ReadFile(at("day.mmrec")); err != nil || len(after) != len(whole)-1 {
		t.Errorf("%d bytes, %v", len(after), err)
	}
	names, err := filepath.Glob(at("*"))
	hidden, _ := filepath.Glob(at(".*"))
	if err != nil || len(names) != 4 || len(hidden) != 0 {
		t.Errorf("the folder has %q, %q, %v", names, hidden, err)
	}
}
