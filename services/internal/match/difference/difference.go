// Package difference says what differs between two configs.
package difference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"matchmaker.dev/pkg/client"
)

// Value is a value that differs. Before or After is empty where there is none.
type Value struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// hidden stands for a hosting key.
const hidden = "(hidden)"

// The hosting keys, as keys of valuesOf, and what the service answers for a secret.
const (
	accessKey = "hosting.access"
	secretKey = "hosting.secret"
	masked    = `"` + client.Masked + `"`
)

// Kind is what the config after is: an Answer, as the one before; one to Put, where a secret that is no mask is new,
// and a config without one may keep the stored one; or a File that could be put, whose secret may be the masked one.
type Kind int

// The kinds.
const (
	Answer Kind = iota
	Put
	File
)

// Of returns what differs between two configs, either of which may be nil, in the order of the paths. A mask stands for
// the key of hosting before.
func Of(before, after json.RawMessage, kind Kind) ([]Value, error) {
	old, err := valuesOf(before)
	if err != nil {
		return nil, err
	}
	now, err := valuesOf(after)
	if err != nil {
		return nil, err
	}
	both, all, kept := maps.Clone(now), []Value{}, kind != Answer && keepsSecret(old, now)
	maps.Copy(both, old)
	for key, value := range both {
		d := Value{value.path, old[key].text, now[key].text}
		hosting := isKey(key)
		switch {
		case d.Before == d.After, hosting && (d.Before != "" && d.After == masked || hide(d.Before)+hide(d.After) == ""),
			key == secretKey && d.Before == masked && (kept || kind == File && hide(d.After) != ""):
			continue
		case hosting:
			d.Before, d.After = hide(d.Before), hide(d.After)
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Value) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// keepsSecret reports whether a PUT keeps the secret that there is: it has none, and the access key is the same.
func keepsSecret(old, now map[string]configValue) bool {
	hosting := slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(key string) bool {
		return strings.HasPrefix(key, "hosting")
	})
	access, was := strings.Trim(now[accessKey].text, `"`), strings.Trim(old[accessKey].text, `"`)
	return hosting && now[secretKey].path == "" && (access == client.Masked || access == was)
}

// isKey reports whether there is a hosting key, or may be one by mistake.
func isKey(key string) bool {
	return strings.HasPrefix(key, "hosting") && (strings.HasSuffix(key, ".access") || strings.HasSuffix(key, ".secret"))
}

func hide(text string) string {
	if text != "" && text != `""` {
		return hidden
	}
	return ""
}

// configValue is a value that is no object or array, or an empty one, or a hosting key, as JSON.
type configValue struct{ path, text string }

// valuesOf returns the values of a config by their paths. The letter case of the contract's names does not count.
func valuesOf(config json.RawMessage) (map[string]configValue, error) {
	values := map[string]configValue{}
	if config == nil {
		return values, nil
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(config))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("the config cannot be read: %w", err)
	}
	flatten(values, "", "", document)
	return values, nil
}

func flatten(values map[string]configValue, key, path string, value any) {
	below := func(name, folded string, element any) {
		if path != "" && name[0] != '[' {
			name, folded = "."+name, "."+folded
		}
		flatten(values, key+folded, path+name, element)
	}
	settings := strings.HasPrefix(key, "matchmaking.config.")
	if isKey(key) && value != nil {
		value = fmt.Sprint(value) // an array or an object by mistake: not even its paths are shown
	}
	switch v := value.(type) {
	case nil: // it means that it is not given, but for functions
		if !settings {
			return
		}
	case map[string]any:
		for name, element := range v {
			shown := name
			if name == "" || strings.ContainsAny(name, ".[ ") {
				shown = strconv.Quote(name)
			}
			folded := shown
			// Names of pools, and names inside of settings, differ by case.
			if key != "pools" && key != "matchmaking.config" && !settings {
				folded = strings.ToLower(strings.ToUpper(shown)) // "ſ" is an s, as EqualFold has it
			}
			below(shown, folded, element)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, element := range v {
			name := fmt.Sprintf("[%d]", i)
			below(name, name, element)
		}
		if len(v) > 0 {
			return
		}
	}
	if number, ok := value.(json.Number); ok {
		value = shortest(number)
	}
	text, err := json.Marshal(value)
	if err == nil && path != "" {
		values[key] = configValue{path, string(text)}
	}
}

// shortest is a number as a config is answered: 100 for 100.0. Integers that a float64 may not have stay as they are.
func shortest(n json.Number) any {
	const exact = 1 << 53
	if f, err := n.Float64(); err == nil && f > -exact && f < exact {
		return f
	}
	return n
}
