package settings_test

import (
	"testing"

	"matchmaker.dev/pkg/matchfn/settings"
)

type config struct {
	Window float64 `json:"window"`
	Teams  struct {
		Size int `json:"size"`
	} `json:"teams"`
}

func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "",
		`{}`:                        "",
		`{"window":5}`:              "",
		`{"windw":5}`:               `settings: json: unknown field "windw"`,
		`{"teams":{"size":"five"}}`: `settings: "teams.size" must be int, not string`,
		`{} {}`:                     "settings: text after the object",
		`[]`:                        "settings: json: cannot unmarshal array into Go value of type settings_test.config",
	} {
		c := config{Window: 25}
		got := ""
		if err := settings.Decode([]byte(text), &c); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if text == `{"window":5}` && c.Window != 5 || text == `{}` && c.Window != 25 {
			t.Errorf("%s: window %v", text, c.Window)
		}
	}
}
