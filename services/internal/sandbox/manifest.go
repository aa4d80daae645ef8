package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Manifest is which attributes and properties a function reads. A nil list means all, an empty one none.
type Manifest struct {
	Attributes []string `json:"attributes"` // tickets' numbers, by name
	Properties []string `json:"properties"` // tickets' and players' opaque data, by name
}

// maxManifest is the longest manifest in bytes: enough for some thousand names.
const maxManifest = 64 * kib

// parseManifest reads what mm_manifest returned. It ignores unknown members, which later versions may have.
func parseManifest(b []byte) (Manifest, error) {
	var m Manifest
	err := json.Unmarshal(b, &m)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return Manifest{}, fmt.Errorf("mm_manifest: a JSON object is expected, got: %s", wrong.Value)
		}
		return Manifest{}, fmt.Errorf("mm_manifest: %s: a list of names is expected, got: %s", wrong.Field, wrong.Value)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("mm_manifest returned no JSON: %w", err)
	}
	for member, names := range map[string][]string{"attributes": m.Attributes, "properties": m.Properties} {
		for i, name := range names {
			if name == "" {
				return Manifest{}, fmt.Errorf("mm_manifest: %s[%d] is empty", member, i)
			}
		}
	}
	return m, nil
}
