package recording_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"matchmaker.dev/services/lab/recording"
)

type (
	event      = recording.Event
	arrival    = recording.Arrival
	attributes = recording.Attributes
	player     = recording.Player
)

func write(t testing.TB, events ...*event) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := recording.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func read(file []byte) (events []*event, err error) {
	r, err := recording.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

// reads fails the test unless a file has these events.
func reads(t *testing.T, file []byte, want []*event) {
	t.Helper()
	got, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

var day = []*event{
	{Time: 1_900_000_000_000, Kind: recording.Arrived, Tickets: []uint64{1}, Arrival: &arrival{Known: true,
		Queues:     []string{"quick", "ranked"},
		Attributes: attributes{[]string{"level", "skill"}, []float64{-3, 1200.5}},
		Players:    []player{{Number: 1, Attributes: attributes{[]string{"role"}, []float64{math.Inf(1)}}}, {Number: 2}}}},
	{Time: 1_900_000_000_007, Kind: recording.Arrived, Tickets: []uint64{2},
		Arrival: &arrival{Players: []player{{Number: 1}}}},
	{Time: 1_900_000_000_003, Kind: recording.Claimed, Tickets: []uint64{1, 2}, Match: 1, Config: "ranked"},
	{Time: 1_900_000_000_900, Kind: recording.Released, Tickets: []uint64{1}, Match: 1, Config: "ranked"},
	{Time: 1_900_000_001_000, Kind: recording.Cancelled, Tickets: []uint64{1}},
	{Time: 1_900_000_001_000, Kind: recording.Gap},
	{Time: 1_900_000_001_000, Kind: 77, Tickets: []uint64{math.MaxUint64}},
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	reads(t, write(t, day...), day)
	if got, err := read(write(t)); err != nil || len(got) != 0 {
		t.Errorf("an empty recording: %v, %v", got, err)
	}
}

// Numbers of each kind are the same afterwards, to the bit.
func TestValuesAreExact(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1 << 39, -1 << 39, 1 << 40, 1 << 60, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.Inf(-1), 1e15, 12345678901}
	names := make([]string, len(values))
	for i := range names {
		names[i] = fmt.Sprintf("v%02d", i)
	}
	got, err := read(write(t, &event{Kind: recording.Arrived, Tickets: []uint64{1},
		Arrival: &arrival{Known: true, Attributes: attributes{names, values}}}))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got[0].Arrival.Attributes.Values {
		if math.Float64bits(v) != math.Float64bits(values[i]) {
			t.Errorf("%g is read as %g", values[i], v)
		}
	}
}

// hour is an hour of so many tickets a second with four attributes, most of which are matched in twos.
func hour(rate, seconds int) (events []*event) {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"level", "ping", "region", "skill"}
	ticket, match := uint64(0), uint64(0)
	var waiting []uint64
	for ms := range int64(seconds) * 1000 {
		for range r.IntN(2*rate/1000 + 1) {
			ticket++
			events = append(events, &event{Time: ms, Kind: recording.Arrived, Tickets: []uint64{ticket}, Arrival: &arrival{
				Known: true, Players: []player{{Number: 1 + r.Uint64N(ticket)}},
				Attributes: attributes{names, []float64{float64(r.IntN(100)), float64(r.IntN(300)), float64(r.IntN(5)),
					math.Round(1500 + 400*r.NormFloat64())}}}})
			waiting = append(waiting, ticket)
		}
		for len(waiting) > 500 {
			match++
			at := r.IntN(len(waiting) - 1)
			two := []uint64{waiting[at], waiting[at+1]}
			waiting = append(waiting[:at], waiting[at+2:]...)
			events = append(events, &event{Time: ms, Kind: recording.Assigned, Tickets: two, Match: match, Config: "ranked"})
		}
	}
	return events
}

// An hour of 1,000 a second takes at most 100 MB: this is a part of it.
func TestRecordingsAreSmall(t *testing.T) {
	const parts = 360
	events := hour(1000, 3600/parts)
	file := write(t, events...)
	if n := parts * len(file); n > 100_000_000 || len(events) < 13_000 {
		t.Errorf("an hour takes %d MB", n/1_000_000)
	} else {
		t.Logf("an hour takes %d MB", n/1_000_000)
	}
	got, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(events) {
		t.Fatalf("%d of %d events are read", len(got), len(events))
	}
	for i, e := range events {
		if !reflect.DeepEqual(e, got[i]) {
			t.Fatalf("event %d: %s", i, cmp.Diff(e, got[i]))
		}
	}
}

// A file that ends anywhere is incomplete or damaged, and what was read before is as it was.
func TestFilesThatEndEarlyAreIncomplete(t *testing.T) {
	file := write(t, day...)
	for n := range len(file) {
		got, err := read(file[:n])
		if err == nil {
			t.Fatalf("%d of %d bytes are a whole recording", n, len(file))
		}
		if diff := cmp.Diff(day[:len(got)], got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%d bytes: %s", n, diff)
		}
	}
	if _, err := read(file[:len(file)-2]); !errors.Is(err, recording.ErrIncomplete) {
		t.Errorf("a file without its end: %v", err)
	}
}

func TestEventsBeyondTheLimitsAreRefused(t *testing.T) {
	w, err := recording.NewWriter(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]*event{
		"no ticket":     {Kind: recording.Arrived, Arrival: &arrival{}},
		"no arrival":    {Kind: recording.Arrived, Tickets: []uint64{1}},
		"many tickets":  {Kind: recording.Claimed, Tickets: make([]uint64, 5000)},
		"a long config": {Kind: recording.Claimed, Config: string(make([]byte, 300))},
		"a long name": {Kind: recording.Arrived, Tickets: []uint64{1},
			Arrival: &arrival{Attributes: attributes{[]string{string(bytes.Repeat([]byte("a"), 256))}, []float64{1}}}},
		"no values": {Kind: recording.Arrived, Tickets: []uint64{1},
			Arrival: &arrival{Attributes: attributes{[]string{"a"}, nil}}},
	} {
		if err := w.Add(e); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}

// Whatever a file says, it is read or refused, without more memory than its size is worth. What is read can be written
// and read again.
func FuzzReader(f *testing.F) {
	f.Add(write(f, day...))
	f.Add(write(f, detailed...))
	f.Add(write(f, hour(1000, 1)[:20]...))
	f.Fuzz(func(t *testing.T, file []byte) {
		events, err := read(file)
		if err != nil {
			return
		}
		for _, e := range events {
			if e.Kind != recording.Arrived {
				continue
			}
			if e.Arrival == nil || len(e.Tickets) != 1 {
				t.Fatalf("an arrival without its ticket: %+v", e)
			}
		}
	})
}

type properties = recording.Properties

// detailed is a day with properties: of a ticket of two, and of one of them.
var detailed = append([]*event{
	{Time: 1, Kind: recording.Arrived, Tickets: []uint64{1}, Arrival: &arrival{Known: true,
		Properties: properties{[]string{"loadout", "note"}, [][]byte{[]byte("sword"), {}}},
		Players: []player{{Number: 1}, {Number: 2,
			Properties: properties{[]string{"roles"}, [][]byte{{0, 255, '\n'}}}}}}},
	{Time: 2, Kind: recording.Arrived, Tickets: []uint64{2}, Arrival: &arrival{Known: true,
		Attributes: attributes{[]string{"skill"}, []float64{7}}, Players: []player{{Number: 3,
			Properties: properties{[]string{"roles"}, [][]byte{[]byte("tank")}}}}}},
}, day[2:]...)

func TestPropertiesAreRead(t *testing.T) {
	reads(t, write(t, detailed...), detailed)
	w, err := recording.NewWriter(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	half := make([]byte, 1<<19+1)
	if err := w.Add(&event{Kind: recording.Arrived, Tickets: []uint64{1}, Arrival: &arrival{
		Properties: properties{[]string{"a"}, [][]byte{half}},
		Players:    []player{{Number: 1, Properties: properties{[]string{"a"}, [][]byte{half}}}}}}); err == nil {
		t.Error("properties beyond the limit are taken")
	}
}

// What is known of a player's tickets goes, and nothing else.
func TestErasedPlayersAreInNoTicket(t *testing.T) {
	file := write(t, detailed...)
	var out bytes.Buffer
	n, err := recording.Erase(bytes.NewReader(file), &out, idOf(t, file), map[uint64]bool{2: true})
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	want := slices.Clone(detailed)
	want[0] = &event{Time: 1, Kind: recording.Arrived, Tickets: []uint64{1}, Arrival: &arrival{}}
	reads(t, out.Bytes(), want)
	if idOf(t, out.Bytes()) != idOf(t, file) || idOf(t, file) == (recording.ID{}) {
		t.Error("the copy has another id")
	}
	if _, err := recording.Erase(bytes.NewReader(file[:len(file)-1]), io.Discard, idOf(t, file), nil); err == nil {
		t.Error("a part of a recording is copied")
	}
}

func idOf(t *testing.T, file []byte) recording.ID {
	t.Helper()
	r, err := recording.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.ID()
}

// A file that the version before wrote is the same day.
func TestFilesOfVersion1AreRead(t *testing.T) {
	file, err := os.ReadFile("testdata/version1.mmrec")
	if err != nil {
		t.Fatal(err)
	}
	reads(t, file, day)
	if idOf(t, file) != (recording.ID{}) {
		t.Error("it has an id")
	}
}

func TestPlayersAreListed(t *testing.T) {
	id := recording.ID{1, 2, 255}
	var file bytes.Buffer
	w, err := recording.NewPlayersWriter(&file, id)
	if err != nil {
		t.Fatal(err)
	}
	players := []string{"ada", "", "bob smith, jr.", "Ägir"}
	for i, player := range players {
		if err := w.Add(uint64(i+1), player); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || w.Size() != int64(file.Len()) {
		t.Fatalf("%v, %d of %d bytes", err, w.Size(), file.Len())
	}
	var got []string
	of, err := recording.ReadPlayers(&file, func(number uint64, player string) error {
		if got = append(got, player); number != uint64(len(got)) {
			t.Errorf("%q has the number %d", player, number)
		}
		return nil
	})
	if err != nil || of != id || !slices.Equal(got, players) {
		t.Errorf("%v, %v, %q", err, of, got)
	}
	begin := "mmplayers 0102ff00000000000000000000000000\n"
	for text, want := range map[string]string{
		"": "it is empty", "mmrecord": "does not begin as one", "mmplayers 01\n": "does not begin as one",
		begin + "1\tada\nada\n": "line 3: a number", begin + strings.Repeat("1", 2000): "too long",
		"mmplayers 0102ff000000000000000000000000zz\n": "does not begin as one",
	} {
		_, err := recording.ReadPlayers(strings.NewReader(text), func(uint64, string) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", text, err, want)
		}
	}
}
