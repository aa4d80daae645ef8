package settings_test

import (
	"testing"

	"matchmaker.dev/pkg/matchfn/settings"
)

type config struct {
	Window float64 `json:"window"`
	Teams  struct {
		Size  int  `json:"size"`
		Least uint `json:"least"`
	} `json:"teams"`
	Maps   []string `json:"maps"`
	Ranked bool     `json:"ranked"`
}

func TestDecodeFillsTheStructOrNamesTheError(t *testing.T) {
	for text, want := range map[string]string{
		``:                          "",
		`{}`:                        "",
		`{"window":5}`:              "",
		`{"windw":5}`:               `settings: unknown field "windw"`,
		`{"window":`:                `settings: unexpected EOF`,
		`{"window":"wide"}`:         `settings: "window": a number is expected, not a string`,
		`{"teams":{"size":"five"}}`: `settings: "teams.size": a whole number is expected, not a string`,
		`{"teams":{"size":1.5}}`:    `settings: "teams.size": a whole number is expected, not a number 1.5`,
		`{"teams":{"least":-1}}`: `settings: "teams.least": ` +
			`a whole number that is not negative is expected, not a number -1`,
		`{"teams":[]}`:    `settings: "teams": an object is expected, not a list`,
		`{"maps":{}}`:     `settings: "maps": a list is expected, not an object`,
		`{"maps":[true]}`: `settings: "maps": a string is expected, not true or false`,
		`{"ranked":1}`:    `settings: "ranked": true or false is expected, not a number`,
		`{} {}`:           "settings: there is text after the object",
		`[]`:              "settings: an object is expected, not a list",
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
