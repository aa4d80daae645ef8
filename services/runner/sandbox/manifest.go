package sandbox

import (
	"encoding/json"
	"fmt"
)

// Manifest is what a function asks to be given. A nil list means everything
// there is, an empty one nothing.
type Manifest struct {
	Attributes []string `json:"attributes"` // tickets' numbers, by name
	Properties []string `json:"properties"` // tickets' and players' opaque data, by name
}

// maxManifest is the longest manifest in bytes: room for some thousand names.
const maxManifest = 64 * kib

// parseManifest reads what mm_manifest returned. Unknown members are left to
// later versions.
func parseManifest(b []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return Manifest{}, fmt.Errorf("mm_manifest returned no JSON manifest: %w", err)
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
