package console

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"matchmaker.dev/pkg/client"
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

// What is tried has no keys of hosting: what is put of it has the stored ones.
func TestTriedConfigIsPutWithTheStoredKeys(t *testing.T) {
	tried := &client.Simulation{Tried: json.RawMessage(`{"hosting":{"Access":"********","Secret":"********"}}`)}
	stored := &client.StoredConfig{Config: client.Config{Hosting: &client.Hosting{Access: `a"$1`, Secret: "********"}}}
	var got client.Config
	if err := json.Unmarshal([]byte(editable(tried, stored)), &got); err != nil || *got.Hosting != *stored.Hosting {
		t.Errorf("got %+v, %v", got.Hosting, err)
	}
	if got := editable(tried, &client.StoredConfig{}); got != indented(tried.Tried) {
		t.Errorf("without stored keys got %s", got)
	}
}
