// Package overlay changes source files for one build.
package overlay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Edit is a file below the root, a text that is in it once, and the one that replaces it.
type Edit [3]string

// Write writes the edited files below root into a folder. It returns the file for the go command's flag -overlay, which
// replaces them.
func Write(root, dir string, edits []Edit) (string, error) {
	replaced, texts := map[string]string{}, map[string][]byte{}
	for _, e := range edits {
		file, right, wrong := filepath.Join(root, e[0]), []byte(e[1]), []byte(e[2])
		if texts[file] == nil {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			texts[file] = text
			replaced[file] = filepath.Join(dir, fmt.Sprintf("%d-%s", len(replaced), filepath.Base(file)))
		}
		if n := bytes.Count(texts[file], right); n != 1 {
			return "", fmt.Errorf("%s has the text %d times, not once: %s", e[0], n, right)
		}
		texts[file] = bytes.Replace(texts[file], right, wrong, 1)
	}
	for file, text := range texts {
		if err := os.WriteFile(replaced[file], text, 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, list, 0o600)
}
