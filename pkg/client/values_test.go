package client_test

import (
	"math"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

func TestValuesAreJSON(t *testing.T) {
	properties, err := client.Values{
		"mode": `say "x"`, "skill": 1200.5, "level": 7, "roles": []string{"tank"}, "none": []string{},
		"latency": map[string]float64{"eu": 32}, "maps": []any{"a", "b"}, "pings": map[string]any{"us": 9.0},
	}.Properties()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"mode": `"say \"x\""`, "skill": "1200.5", "level": "7", "roles": `["tank"]`, "none": "[]", "latency": `{"eu":32}`,
		"maps": `["a","b"]`, "pings": `{"us":9}`,
	} {
		if got := string(properties[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for want, value := range map[string]any{
		"value x: NaN is not a finite number":                  math.NaN(),
		"value x: eu: +Inf is not a finite number":             map[string]float64{"eu": math.Inf(1)},
		"value x: element 1 is float64, and a set has strings": []any{"a", 7.0},
		"value x: eu is string, and a map has numbers":         map[string]any{"eu": "near"},
		"value x: is bool, and not a string, a number, ":       true,
	} {
		if _, err := (client.Values{"x": value}).Properties(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
