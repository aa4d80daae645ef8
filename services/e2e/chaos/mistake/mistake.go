// Package mistake builds the services with a mistake in them, to see that it is found. The sources stay as they are: the go
// command is given an overlay, with copies of the files that a patch changes.
package mistake

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed patches/*.patch
var patches embed.FS

// Names of all mistakes.
func Names() ([]string, error) {
	files, err := patches.ReadDir("patches")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".patch"))
	}
	return names, nil
}

// Mistake is a patch, and what is wrong then.
type Mistake struct {
	// Says what is wrong, as the patch's first lines do.
	Says  string
	patch []byte
	files []string
}

// changed are the files that a patch changes.
var changed = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)$`)

// Read reads the patch of a name.
func Read(name string) (*Mistake, error) {
	text, err := patches.ReadFile("patches/" + name + ".patch")
	if err != nil {
		names, _ := Names() // those that there are
		return nil, fmt.Errorf("there is no mistake %q, only %s", name, strings.Join(names, ", "))
	}
	says, _, found := bytes.Cut(text, []byte("\n---"))
	m := &Mistake{Says: strings.Join(strings.Fields(string(says)), " "), patch: text}
	for _, file := range changed.FindAllSubmatch(text, -1) {
		m.files = append(m.files, string(file[1]))
	}
	if !found || len(m.files) == 0 {
		return nil, fmt.Errorf("the patch of %q must say what is wrong then, and change a file", name)
	}
	return m, nil
}

// Overlay writes an overlay for the sources below root into an empty folder, and returns its file for the go command's -overlay.
func (m *Mistake) Overlay(ctx context.Context, root, dir string) (string, error) {
	replace := map[string]string{}
	for _, file := range slices.Compact(slices.Sorted(slices.Values(m.files))) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		mine := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(mine), 0o750); err != nil {
			return "", err
		}
		if err := os.WriteFile(mine, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = mine
	}
	c := exec.CommandContext(ctx, "git", "apply", "--unidiff-zero", "-")
	c.Dir, c.Stdin = dir, bytes.NewReader(m.patch)
	// The folder may lie in a repository; its files are none of that.
	c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the patch does not fit the sources any more: %w\n%s", err, out)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}
