// Package project writes projects of match functions in Go: a function with its
// tests, a config and tickets to try it on, and a copy of the SDK. A project builds
// with nothing but Go.
package project

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"matchmaker.dev/pkg/matchfn"
)

// Names in files are as in a project but for the ending, which keeps the go command from them. {{.Name}}
// stands for the function's name, {{.Go}} for the version of Go.
//
//go:embed files
var files embed.FS

const (
	folder = "files"
	ending = ".tmpl"
	sdk    = "sdk"
)

// workspace is written only where another workspace would take the project for a part of it.
const workspace = "go.work"

// Write writes a project into a folder, which must not exist or be empty. Name is the name of a function.
func Write(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is there and not empty: nothing was written", dir)
	}
	inside, err := inWorkspace(dir)
	if err != nil {
		return err
	}
	templates, err := fs.ReadDir(files, folder)
	if err != nil {
		return err
	}
	version, err := language()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // source code, as go mod init and git have it
		return err
	}
	fill := strings.NewReplacer("{{.Name}}", name, "{{.Go}}", version)
	for _, t := range templates {
		target := strings.TrimSuffix(t.Name(), ending)
		switch {
		case target == workspace && !inside:
			continue
		case target == "gitignore":
			target = "." + target // embedding leaves out what is hidden
		}
		text, err := files.ReadFile(path.Join(folder, t.Name()))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, target), []byte(fill.Replace(string(text)))); err != nil {
			return err
		}
	}
	return copySDK(filepath.Join(dir, sdk))
}

// Renew puts this program's SDK in the place of a project's.
func Renew(dir string) error {
	at := filepath.Join(dir, sdk)
	if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err != nil || !strings.HasPrefix(string(text), "module matchmaker.dev/pkg/matchfn\n") {
		return fmt.Errorf("%s does not have the SDK: %s is not the folder of a match function's project", at, dir)
	}
	// Beside it first, so that a full disk does not take the old one away.
	fresh, err := os.MkdirTemp(dir, "."+sdk)
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := copySDK(filepath.Join(fresh, sdk)); err != nil {
		return err
	}
	if err := os.RemoveAll(at); err != nil {
		return err
	}
	return os.Rename(filepath.Join(fresh, sdk), at)
}

// copySDK writes the SDK without its tests.
func copySDK(to string) error {
	source := matchfn.Source()
	return fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case entry.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		target := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // source code
			return err
		}
		return write(target, content)
	})
}

// write makes a file, and never replaces one.
func write(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // source code
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// language is the version of Go that the SDK is written in.
func language() (string, error) {
	text, err := fs.ReadFile(matchfn.Source(), "go.mod")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if version, ok := strings.CutPrefix(line, "go "); ok {
			return strings.TrimSpace(version), nil
		}
	}
	return "", errors.New("the SDK's go.mod names no version of Go")
}

// inWorkspace tells whether the go command would find a go.work above a folder.
func inWorkspace(dir string) (bool, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	for {
		up := filepath.Dir(at)
		if up == at {
			return false, nil
		}
		at = up
		if _, err := os.Stat(filepath.Join(at, workspace)); err == nil {
			return true, nil
		}
	}
}
