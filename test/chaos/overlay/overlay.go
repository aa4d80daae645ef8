// Package overlay changes source files for one build.
package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Edit is a file below the root, a text that is in it once, and the one that replaces it. A new file replaces "".
type Edit [3]string

// Edits are changes of files below a root.
type Edits struct {
	Root  string
	Edits []Edit
}

// Sources is the folder of Go's own sources.
func Sources(ctx context.Context) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "src"), err
}

// Write writes the edited files into a folder. It returns the file for the go command's flag -overlay, which replaces
// them.
func Write(dir string, all ...Edits) (string, error) {
	replaced, texts := map[string]string{}, map[string][]byte{}
	for _, of := range all {
		if err := of.write(dir, replaced, texts); err != nil {
			return "", err
		}
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

// write adds the edited files to the replaced ones, and to their new texts.
func (of Edits) write(dir string, replaced map[string]string, texts map[string][]byte) error {
	for _, e := range of.Edits {
		file, right, wrong := filepath.Join(of.Root, e[0]), []byte(e[1]), []byte(e[2])
		if texts[file] == nil {
			text, err := []byte{}, error(nil)
			if e[1] != "" {
				text, err = os.ReadFile(file)
			}
			if err != nil {
				return err
			}
			texts[file] = text
			replaced[file] = filepath.Join(dir, fmt.Sprintf("%d-%s", len(replaced), filepath.Base(file)))
		}
		if n := bytes.Count(texts[file], right); n != 1 {
			return fmt.Errorf("%s has the text %d times, not once: %s", e[0], n, right)
		}
		texts[file] = bytes.Replace(texts[file], right, wrong, 1)
	}
	return nil
}
