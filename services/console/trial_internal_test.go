package console

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"matchmaker.dev/services/internal/match/difference"
)

// Browsers round what is between two steps: the number that is now must be on one.
func TestSliderCanStandAtTheNumber(t *testing.T) {
	for _, now := range []float64{100, 125, 1234, 0, -37, 0.125, 0.3, 2, 98765} {
		var w whatIf
		w.slide(now, "")
		step, err := strconv.ParseFloat(w.Step, 64)
		low, lowErr := strconv.ParseFloat(w.Min, 64)
		if err != nil || lowErr != nil {
			t.Fatal(err, lowErr)
		}
		if n := (now - low) / step; step <= 0 || math.Abs(n-math.Round(n)) > 1e-6 {
			t.Errorf("of %v the steps are %s from %s", now, w.Step, w.Min)
		}
	}
}

// Masks stand for the stored keys, of which no page shows more than that they differ.
func TestDifferencesOfKeys(t *testing.T) {
	const kept = `{"hosting":{"Access":"AKIA","Secret":"********","FleetId":"eu"}}`
	for _, x := range []struct {
		before, after string
		want          difference.Value
	}{
		{kept, `{"hosting":{"Access":"********","Secret":"********","FleetId":"us"}}`, difference.Value{Path: "hosting.FleetId", Before: `"eu"`, After: `"us"`}},
		{kept, `{"hosting":{"Access":"AKIA","FleetId":"us"}}`, difference.Value{Path: "hosting.FleetId", Before: `"eu"`, After: `"us"`}},
		{kept, `{"hosting":{"Access":"AKIB","Secret":"********","FleetId":"eu"}}`, difference.Value{Path: "hosting.Access", Before: "(hidden)", After: "(hidden)"}},
		{`{"hosting":{"FleetId":"eu"}}`, `{"hosting":{"Secret":"********","FleetId":"eu"}}`, difference.Value{Path: "hosting.Secret", Before: "", After: "(hidden)"}},
	} {
		got, err := differencesOf(json.RawMessage(x.before), json.RawMessage(x.after), difference.Put)
		if err != nil || len(got) != 1 || got[0] != x.want {
			t.Errorf("%s, %s: %v, %v", x.before, x.after, got, err)
		}
	}
}
