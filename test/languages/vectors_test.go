package languages

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const vectors = "../../pkg/matchfn/block/testdata/vectors"

// vector is a vector of the block format, see its FORMAT.md.
type vector struct {
	name        string
	block       []byte
	description []byte // JSON
}

// load reads the vectors whose names have a prefix.
func load(t *testing.T, prefix string) []vector {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(vectors, prefix+"*.hex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors %s: %v", prefix, err)
	}
	var all []vector
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".hex")
		digits, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		block, err := hex.DecodeString(strings.ReplaceAll(string(digits), "\n", ""))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		description, err := os.ReadFile(strings.TrimSuffix(file, ".hex") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector{name, block, description})
	}
	return all
}

// into decodes the description of a vector.
func (v vector) into(t *testing.T, description any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(v.description)))
	d.DisallowUnknownFields()
	if err := d.Decode(description); err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
}
