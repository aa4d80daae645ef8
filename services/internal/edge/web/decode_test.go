package web

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// ticket has the shapes that bodies of the contract have.
type ticket struct {
	Attributes map[string]float64 `json:"attributes"`
	Properties map[string][]byte  `json:"properties"`
	Name       string             `json:"name"`
	Version    int32              `json:"version"`
	Ready      bool               `json:"ready"`
	Optional   *float64           `json:"optional"`
	Pools      []pool             `json:"pools"`
	Until      moment             `json:"until"`
	At         time.Time          `json:"at"`
	Free       any                `json:"free"`
	Names      []string           `json:"names"`
	Count      uint8              `json:"count"`
	Created    *int64             `json:"created"`
}

type pool struct {
	Min        float64 `json:"min"`
	MatchAttrs string  `json:"matchProperties"`
}

// moment refuses to decode with a fault of its own.
type moment time.Time

func (m *moment) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return problem.New(problem.Invalid, "a time like 2006-01-02T15:04:05Z is expected")
	}
	*m = moment(at)
	return nil
}

func TestDecodeAccepts(t *testing.T) {
	four, created := 4.0, int64(1730800000123)
	for name, tt := range map[string]struct {
		body string
		want ticket
	}{
		"empty object":  {`{}`, ticket{}},
		"spaces around": {" \r\n\t{ } \n", ticket{}},
		"attributes": {`{"attributes":{"skill":1200,"x":-1.5e3}}`,
			ticket{Attributes: map[string]float64{"skill": 1200, "x": -1500}}},
		"properties": {`{"properties":{"p":"aGk=","empty":""}}`,
			ticket{Properties: map[string][]byte{"p": []byte("hi"), "empty": {}}}},
		"members by any case": {`{"ATTRIBUTES":{"a":1},"Name":"n","vErSiOn":2}`,
			ticket{Attributes: map[string]float64{"a": 1}, Name: "n", Version: 2}},
		"nested members by any case": {`{"pools":[{"MIN":1,"MATCHproperties":"m"}]}`,
			ticket{Pools: []pool{{Min: 1, MatchAttrs: "m"}}}},
		"keys of maps as they are": {`{"attributes":{"Skill":1,"skill":2,"SKILL":3}}`,
			ticket{Attributes: map[string]float64{"Skill": 1, "skill": 2, "SKILL": 3}}},
		"null means not given": {`{"attributes":null,"name":null,"optional":null,"pools":null}`, ticket{}},
		"the word null in a string": {`{"name":"null","attributes":{"null":1}}`,
			ticket{Name: "null", Attributes: map[string]float64{"null": 1}}},
		"optional number":              {`{"optional":4}`, ticket{Optional: &four}},
		"optional number beside nulls": {`{"optional":4,"name":null}`, ticket{Optional: &four}},
		"brackets in strings are flat": {`{"name":"` + strings.Repeat(`[{\"`, 40) + `"}`,
			ticket{Name: strings.Repeat(`[{"`, 40)}},
		"many flat objects": {`{"pools":[` + strings.Repeat(`{"min":1},`, 40) + `{"min":1}]}`,
			ticket{Pools: repeat(pool{Min: 1}, 41)}},
		"nesting of 32": {`{"free":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`,
			ticket{Free: nest(31)}},
		"nesting of 32 beside others": {`{"pools":[{},{},{}],"free":` + strings.Repeat("[", 31) + strings.Repeat("]",
			31) + `}`, ticket{Pools: repeat(pool{}, 3), Free: nest(31)}},
		"integers as any number": {`{"version":10e-1,"count":255.0,"created":1.730800000123e12}`,
			ticket{Version: 1, Count: 255, Created: &created}},
		"integers as floats beside nulls": {`{"version":-0.0,"created":1730800000123.0,"name":null}`,
			ticket{Created: &created}},
		"null in free JSON": {`{"free":[null]}`, ticket{Free: []any{nil}}},
		"Base64 with escapes": {`{"properties":{"p":"YQ\u003d\u003d","q":"\/\/8="}}`,
			ticket{Properties: map[string][]byte{"p": []byte("a"), "q": {255, 255}}}},
		"texts that look like Base64": {`{"name":"YR==","properties":{"p":"YQ=="}}`,
			ticket{Name: "YR==", Properties: map[string][]byte{"p": []byte("a")}}},
		"escapes": {`{"name":"\u00e9\ud83d\ude00\n"}`, ticket{Name: "é😀\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got ticket
			if err := decode([]byte(tt.body), &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, tt.want) { // cmp takes exponential time for deep interfaces
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

const spareBits = "Base64 that is not canonical: " +
	"the last character before the padding has bits that belong to no byte, and must be 0"

func TestDecodeRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"nothing":                  {"", "the body is empty: a JSON value is expected"},
		"only spaces":              {" \n", "the body is empty: a JSON value is expected"},
		"null":                     {"null", "the body: an object is expected, got null"},
		"array":                    {"[]", "the body: an object is expected, got an array"},
		"string":                   {`"x"`, "the body: an object is expected, got a string"},
		"unknown member":           {`{"attribute":{}}`, "attribute: unknown member"},
		"unknown nested member":    {`{"pools":[{"min":1},{"max":2}]}`, "pools.1.max: unknown member"},
		"underscores are not case": {`{"pools":[{"match_properties":"m"}]}`, "pools.0.match_properties: unknown member"},
		"member twice":             {`{"name":"a","name":"b"}`, "name: given twice"},
		"member twice by case":     {`{"name":"a","Name":"b"}`, "Name: given twice"},
		"map key twice":            {`{"attributes":{"a":1,"a":1}}`, "attributes.a: given twice"},
		"map key twice by escape":  {`{"attributes":{"a":1,"\u0061":1}}`, "attributes.a: given twice"},
		"twice below any":          {`{"free":{"a":1,"a":1}}`, "free.a: given twice"},
		"string for number": {`{"attributes":{"skill":"high"}}`,
			"attributes.skill: a number is expected, got a string"},
		"quoted number": {`{"attributes":{"skill":"1"}}`,
			"attributes.skill: a number is expected, got a string"},
		"boolean for number": {`{"attributes":{"skill":true}}`,
			"attributes.skill: a number is expected, got a boolean"},
		"null for number":        {`{"attributes":{"skill":null}}`, "attributes.skill: a number is expected, got null"},
		"null for member number": {`{"version":null}`, "version: an integer is expected, got null"},
		"null for boolean":       {`{"ready":null}`, "ready: a boolean is expected, got null"},
		"null for Base64":        {`{"properties":{"p":null}}`, "properties.p: a Base64 string is expected, got null"},
		"array for object":       {`{"attributes":[1]}`, "attributes: an object is expected, got an array"},
		"object for array":       {`{"pools":{}}`, "pools: an array is expected, got an object"},
		"object for string":      {`{"name":{}}`, "name: a string is expected, got an object"},
		"fraction for integer":   {`{"version":1.5}`, "version: an integer is expected, got a fraction"},
		"huge exponent":          {`{"version":1e99999999999}`, "version: the number is out of range"},
		"tiny exponent":          {`{"version":1e-99999999999}`, "version: an integer is expected, got a fraction"},
		"float out of range":     {`{"version":3e9}`, "version: the number is out of range"},
		"negative count":         {`{"count":-1.0}`, "count: the number is out of range"},
		"large count":            {`{"count":256.0}`, "count: the number is out of range"},
		"null in an array":       {`{"names":[null]}`, "names.0: a string is expected, got null"},
		"null object in an array": {`{"pools":[{},null]}`,
			"pools.1: an object is expected, got null"},
		"integer out of range": {`{"version":3000000000}`, "version: the number is out of range"},
		"number out of range":  {`{"attributes":{"skill":1e999}}`, "attributes.skill: the number is out of range"},
		"not Base64": {`{"properties":{"p":"a&b="}}`,
			"properties.p: not Base64 (standard alphabet, with padding)"},
		"Base64 without padding": {`{"properties":{"p":"aGk"}}`,
			"properties.p: not Base64 (standard alphabet, with padding)"},
		"URL Base64": {`{"properties":{"p":"-_-_"}}`,
			"properties.p: not Base64 (standard alphabet, with padding)"},
		"spare bits in Base64":           {`{"properties":{"p":"YR=="}}`, "properties.p: " + spareBits},
		"spare bits beside one padding":  {`{"properties":{"q":"YQ==","p":"YWF="}}`, "properties.p: " + spareBits},
		"spare bits behind escapes":      {`{"properties":{"p":"YR\u003d\u003d"}}`, "properties.p: " + spareBits},
		"Base64 with an escaped newline": {`{"properties":{"p":"YWFh\nYWFh"}}`, "properties.p: " + notBase64},
		"number for Base64":              {`{"properties":{"p":1}}`, "properties.p: a Base64 string is expected, got a number"},
		"a type's own reason":            {`{"until":"soon"}`, "until: a time like 2006-01-02T15:04:05Z is expected"},
		"a type without a reason":        {`{"at":"soon"}`, "at: another value is expected, got a string"},
		"NaN": {`{"attributes":{"skill":NaN}}`,
			"the body is not JSON: invalid character 'N' at start of value, at byte 23"},
		"Infinity": {`{"attributes":{"skill":Infinity}}`,
			"the body is not JSON: invalid character 'I' at start of value, at byte 23"},
		"trailing value": {`{} {}`,
			"the body is not JSON: invalid character '{' after top-level value, at byte 3"},
		"trailing comma": {`{"name":"a",}`,
			"the body is not JSON: invalid character ',' at start of value, at byte 11"},
		"bad surrogate": {`{"properties":{"a":"SECRET\ud800SECRET"}}`,
			"the body is not JSON: invalid surrogate pair, at byte 26"},
		"comment":         {`{/**/}`, "the body is not JSON: invalid character '/' at start of value, at byte 1"},
		"cut off":         {`{"name":"a`, "the body is not JSON: it ends too early, after byte 10"},
		"byte order mark": {"\ufeff{}", "the body begins with a byte order mark: JSON is UTF-8 without one"},
		"UTF-16": {"\xff\xfe{\x00}\x00",
			"the body begins with a byte order mark: JSON is UTF-8 without one"},
		"UTF-16 without a mark":    {"{\x00}\x00", "the body is UTF-16 or UTF-32: JSON is UTF-8"},
		"UTF-16, high bytes first": {"\x00{\x00}", "the body is UTF-16 or UTF-32: JSON is UTF-8"},
		"UTF-32 without a mark":    {"\x00\x00\x00{\x00\x00\x00}", "the body is UTF-16 or UTF-32: JSON is UTF-8"},
		"invalid UTF-8 in a value": {"{\"name\":\"\xff\"}", "name: not UTF-8, at byte 9"},
		"invalid UTF-8 in a name":  {"{\"attributes\":{\"\xc0\x80\":1}}", "attributes: not UTF-8, at byte 16"},
		"nesting of 33": {`{"free":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`,
			"the body: objects and arrays nest deeper than 32"},
		"nesting never closed": {strings.Repeat(`{"a":[`, 9000), "the body: objects and arrays nest deeper than 32"},
		"nesting behind a backslash": {`{"name":"\\","free":` + strings.Repeat("[", 40),
			"the body: objects and arrays nest deeper than 32"},
		"long names are cut": {`{"` + strings.Repeat("é", 80) + `":1}`,
			strings.Repeat("é", 50) + "…: unknown member"},
	} {
		t.Run(name, func(t *testing.T) {
			err := decode([]byte(tt.body), new(ticket))
			if err == nil || problem.KindOf(err) != problem.Invalid {
				t.Fatalf("got %v, want a problem.Invalid", err)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

// Half of a surrogate pair is valid ASCII in the body, but no character.
func TestDecodeRefusesLoneSurrogate(t *testing.T) {
	err := decode([]byte(`{"name":"\ud83d"}`), new(ticket))
	if problem.KindOf(err) != problem.Invalid {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"attributes":{"skill":1200},"properties":{"x":"aGk="},"pools":[{"min":1}],"optional":null}`))
	f.Add([]byte(`{"free":[[[{"a":null}]]],"until":"2006-01-02T15:04:05Z"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got ticket
		err := decode(text, &got)
		if err != nil && problem.KindOf(err) != problem.Invalid {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && !stdjson.Valid(text) {
			t.Fatalf("%q was accepted and is not JSON", text)
		}
	})
}

func repeat[T any](v T, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// nest is n arrays in each other, as package json decodes them into an any.
func nest(n int) any {
	v := []any{}
	for range n - 1 {
		v = []any{v}
	}
	return v
}

const usualTicket = `{"attributes":{"skill":1200,"latency":42.5,"region":3},"properties":{"loadout":"eyJ3ZWFwb24iOiJib3cifQ=="}}`

type createTicket struct {
	Attributes map[string]float64 `json:"attributes"`
	Properties map[string][]byte  `json:"properties"`
}

func BenchmarkDecode(b *testing.B) {
	text := []byte(usualTicket)
	b.Run("strict", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := decode(text, new(createTicket)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := stdjson.Unmarshal(text, new(createTicket)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
