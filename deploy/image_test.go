package deploy

import (
	"bytes"
	"debug/elf"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

var image = flag.String("image", "", "folder that gets the binaries of the image")

// version is what the image is built as.
const version = "v1.2.3-image"

// TestImage follows the Dockerfile without its base images: it does the copies, runs the commands, and checks the files
// that the image would have. The tests of the services run those.
func TestImage(t *testing.T) {
	if *image == "" {
		t.Skip("this is part of make image")
	}
	file, err := os.Open("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil || len(stages) != 2 {
		t.Fatalf("%d stages, %v", len(stages), err)
	}
	out := follow(t, stages[0])
	last := stages[1]
	labels, user := map[string]string{}, ""
	for _, c := range last.Commands {
		switch c := c.(type) {
		case *instructions.LabelCommand:
			for _, l := range c.Labels {
				labels[l.Key] = l.Value
			}
		case *instructions.UserCommand:
			user = c.User
		case *instructions.CopyCommand:
			if c.From != stages[0].Name || !slices.Equal(c.SourcePaths, []string{"/out/"}) || c.DestPath != "/usr/local/bin/" {
				t.Errorf("what was built is not what is copied: %v", c)
			}
		case *instructions.EntrypointCommand:
			if want := []string{"/usr/local/bin/matchmaker"}; !slices.Equal(c.CmdLine, want) || c.PrependShell {
				t.Errorf("the image starts %v, want %v without a shell", c.CmdLine, want)
			}
		}
	}
	if user != "65532:65532" {
		t.Errorf("the image runs as %q: a user by number is what restricted clusters can check", user)
	}
	for _, label := range []string{"title", "description", "licenses", "version"} {
		if labels["org.opencontainers.image."+label] == "" {
			t.Errorf("the image has no %s in %v", label, labels)
		}
	}
	for name, ask := range map[string]string{"matchmaker": "--version", "mm": "version"} {
		binary := filepath.Join(out, name)
		static(t, binary)
		said, err := exec.CommandContext(t.Context(), binary, ask).CombinedOutput()
		if err != nil || !strings.Contains(string(said), version) {
			t.Errorf("%s says that it is %s, %v; want %s", name, said, err, version)
		}
		text, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(filepath.Dir(out))) {
			t.Errorf("%s knows where it was built", name)
		}
		if err := os.MkdirAll(*image, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*image, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// follow does what a stage says, in a folder instead of a container, and returns the folder that stands for /out there.
func follow(t *testing.T, stage instructions.Stage) (out string) {
	t.Helper()
	root := t.TempDir()
	out = filepath.Join(root, "out") + "/"
	dir := root
	env := []string{"VERSION=" + version}
	for _, v := range os.Environ() {
		// A build in a container does not see the settings of the tests' user.
		if name, _, _ := strings.Cut(v, "="); name != "GOFLAGS" && name != "GOWORK" && name != "CGO_ENABLED" &&
			name != "VERSION" {
			env = append(env, v)
		}
	}
	for _, c := range stage.Commands {
		switch c := c.(type) {
		case *instructions.WorkdirCommand:
			dir = filepath.Join(root, c.Path)
		case *instructions.ArgCommand: // VERSION
		case *instructions.CopyCommand:
			for _, source := range c.SourcePaths {
				into := filepath.Join(dir, c.DestPath)
				if !strings.HasSuffix(c.DestPath, "/") && c.DestPath != "." {
					t.Fatalf("%v copies to something that is no folder", c)
				}
				add(t, source, into)
			}
		case *instructions.RunCommand:
			line := strings.Join(c.CmdLine, " ")
			if line == "go mod download" {
				// Here modules come as they are needed; the command would fail where the go.mod of one is missing.
				line = "go list -m"
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "/out/", out))
			cmd.Dir, cmd.Env = dir, env
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", line, err, said)
			}
		default:
			t.Fatalf("a test that does not know what %v does", c)
		}
	}
	return out
}

// add copies a file or a folder of the repository, but for what .dockerignore keeps back.
func add(t *testing.T, source, into string) {
	t.Helper()
	list, err := os.Open("../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	patterns, err := ignorefile.ReadAll(list)
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join("..", source)
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	base := from
	if !info.IsDir() {
		base = filepath.Dir(from)
	}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		if skip, err := ignored.MatchesOrParentMatches(name); name != "." && (err != nil || skip) {
			if d.IsDir() && err == nil {
				return filepath.SkipDir
			}
			return err
		}
		rest, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		to := filepath.Join(into, rest)
		if d.IsDir() {
			return os.MkdirAll(to, 0o750)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// static: a binary needs no loader and no library, of which the image has none.
func static(t *testing.T, binary string) {
	t.Helper()
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("%s is linked dynamically: it has %v", binary, p.Type)
		}
	}
}
