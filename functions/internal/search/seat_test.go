package search_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
)

func TestSeatsAreReadAsTheyAreWritten(t *testing.T) {
	seats := []search.Seat{
		{ID: "ada", Team: "red", Role: "tank", Version: 3, Values: []byte(`{"skill":12.5,"maps":["a"]}`)},
		{Team: "a \"quoted\" \\ name\n"}, {},
	}
	text := search.AppendSeats(nil, seats)
	var parsed []map[string]any
	if err := json.Unmarshal(text, &parsed); err != nil || len(parsed) != 3 || parsed[1]["team"] != seats[1].Team {
		t.Errorf("%s: %v", text, err)
	}
	if got, ok := search.ReadSeats(text); !ok || !reflect.DeepEqual(got, seats) {
		t.Errorf("%s is read as %+v, %v", text, got, ok)
	}
	got, ok := search.ReadSeats([]byte(` [ { "more" : [ {} , null ] , "id" : "\u0061" } , { } ] `))
	if !ok || !reflect.DeepEqual(got, []search.Seat{{ID: "a"}, {}}) {
		t.Errorf("got %+v, %v", got, ok)
	}
	for _, text := range []string{``, `{}`, `[1]`, `[{}`, `[{}]x`, `[{"id":1}]`, `[{"team":null}]`, `[{"values":[]}]`,
		`[{"version":"1"}]`, `[{"id":"a" "team":"b"}]`, `[{},]`} {
		if got, ok := search.ReadSeats([]byte(text)); ok {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}

// Whatever a server writes, it is refused or read; what is read is read again as it is written.
func FuzzReadSeats(f *testing.F) {
	f.Add([]byte(`[{"id":"ada","team":"red","role":"tank","version":2,"values":{"skill":1e3,"maps":["a"]}},{}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		seats, ok := search.ReadSeats(text)
		if !ok {
			return
		}
		written := search.AppendSeats(nil, seats)
		again, ok := search.ReadSeats(written)
		if !ok || len(again) != len(seats) {
			t.Fatalf("%q is written as %q: %v", text, written, ok)
		}
		for i := range seats {
			if !reflect.DeepEqual(again[i], seats[i]) {
				t.Fatalf("%q is written as %q", text, written)
			}
		}
	})
}

// A teller says of players what their tickets say, but for roles and latencies.
func TestDescriberReadsTickets(t *testing.T) {
	told := 0
	for i := range *cases {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 3))
		r, err := rules.Parse(ruleSet(random, *seed+uint64(i)))
		if err != nil {
			continue
		}
		kinds := map[string]rules.Kind{
			"skill": rules.Number, "sigma": rules.Number, "mode": rules.String, "id": rules.String, "maps": rules.Set,
			"blocked": rules.Set,
		}
		if r.RoleValue != "roles" {
			kinds["roles"] = rules.Set
		}
		if r.RoleValue != "likes" {
			kinds["likes"] = rules.Map
		}
		pool := world{random}.pool(4)
		describer := search.NewDescriber(r, tickets(pool))
		if got := describer.Numbers(); !slices.Equal(got, []string{"sigma", "skill"}) {
			t.Fatalf("the numbers are %v", got)
		}
		for n, ticket := range pool {
			all := describer.Players(uint32(n))
			if len(all) != len(ticket.Players) {
				t.Fatalf("ticket %d has %d players, and %d are told of", n, len(ticket.Players), len(all))
			}
			sums, some := map[string]float64{}, map[string]float64{}
			for p, player := range ticket.Players {
				want := map[string]any{}
				for name, kind := range kinds {
					switch v := player[name].(type) {
					case float64:
						if kind == rules.Number {
							want[name] = v
							sums[name], some[name] = sums[name]+v, some[name]+1
						}
					case string:
						want[name] = v
					case []string:
						set := []any{}
						for _, one := range slices.Sorted(slices.Values(v)) {
							set = append(set, one)
						}
						want[name] = set
					case map[string]float64:
						numbers := map[string]any{}
						for name, n := range v {
							numbers[name] = n
						}
						want[name] = numbers
					}
				}
				var got map[string]any
				if err := json.Unmarshal(all[p].Values, &got); err != nil {
					t.Fatalf("%s: %v", all[p].Values, err)
				}
				for _, value := range got { // the order of a set is nothing
					if set, ok := value.([]any); ok {
						slices.SortFunc(set, func(a, b any) int {
							if a.(string) < b.(string) {
								return -1
							}
							return 1
						})
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("of player %d of ticket %d it says %v, want %v", p, n, got, want)
				}
				told += len(got)
			}
			for i, mean := range describer.Means(all) {
				name := describer.Numbers()[i]
				if n := some[name]; n > 0 && mean != sums[name]/n || n == 0 && mean == mean {
					t.Fatalf("the mean %s is %v, want %v of %v", name, mean, sums[name], n)
				}
			}
		}
	}
	if told < *cases {
		t.Errorf("it says only %d values", told)
	}
}
