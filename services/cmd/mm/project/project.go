// Package project writes projects of match functions in Go. A project has a function with tests, a config, sample
// tickets, and a copy of the SDK. It builds with nothing but Go.
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

// The files have the names that they have in a project, with the suffix .tmpl, so that the go command ignores them.
// {{.Name}} is the name of the function, {{.Go}} the version of Go.
//
//go:embed files
var files embed.FS

const (
	folder = "files"
	ending = ".tmpl"
	sdk    = "sdk"
)

// workspace is written only if the project is below another workspace, which would claim it.
const workspace = "go.work"

// Write writes a project into a folder, which must be empty or not exist. name is the name of the function.
func Write(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s exists and is not empty: nothing was written", dir)
	}
	nested, err := inWorkspace(dir)
	if err != nil {
		return err
	}
	templates, err := fs.ReadDir(files, folder)
	if err != nil {
		return err
	}
	version, err := goVersion()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // source code, with the permissions that git uses
		return err
	}
	placeholders := strings.NewReplacer("{{.Name}}", name, "{{.Go}}", version)
	for _, t := range templates {
		target := strings.TrimSuffix(t.Name(), ending)
		switch {
		case target == workspace && !nested:
			continue
		case target == "gitignore":
			target = "." + target // go:embed leaves out hidden files
		}
		text, err := files.ReadFile(path.Join(folder, t.Name()))
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, target), []byte(placeholders.Replace(string(text)))); err != nil {
			return err
		}
	}
	return copySDK(filepath.Join(dir, sdk))
}

// ReplaceSDK replaces a project's SDK by the one in this program.
func ReplaceSDK(dir string) error {
	at := filepath.Join(dir, sdk)
	text, err := os.ReadFile(filepath.Join(at, "go.mod"))
	if err != nil || !strings.HasPrefix(string(text), "module matchmaker.dev/pkg/matchfn\n") {
		return fmt.Errorf("%s does not have the SDK: %s is not the folder of a match function's project", at, dir)
	}
	// Write the new one before the old one is removed: the disk may be full.
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

// write creates a file. It fails if the file exists.
func write(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // source code
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// goVersion returns the version of Go in the SDK's go.mod.
func goVersion() (string, error) {
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

// inWorkspace reports whether there is a go.work in a folder above.
func inWorkspace(dir string) (bool, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	for parent := filepath.Dir(at); parent != at; parent = filepath.Dir(at) {
		at = parent
		if _, err := os.Stat(filepath.Join(at, workspace)); err == nil {
			return true, nil
		}
	}
	return false, nil
}
