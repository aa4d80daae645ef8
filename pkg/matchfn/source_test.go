package matchfn_test

import (
	"io/fs"
	"os"
	"testing"

	"matchmaker.dev/pkg/matchfn"
)

// A project gets a copy of all files but the dialects, which functions do not read.
func TestSourceHasAllFiles(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case name == "dialects":
			return fs.SkipDir
		case err != nil || entry.IsDir():
			return err
		}
		want, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		got, err := fs.ReadFile(matchfn.Source(), name)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
