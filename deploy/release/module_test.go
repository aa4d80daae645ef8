package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestModulesCanBeImported serves the published modules of this commit as a module proxy does, and builds a project
// outside the repository with them: a program with the client, and a match function that is packed.
func TestModulesCanBeImported(t *testing.T) {
	r := opened(t)
	proxy := t.TempDir()
	for _, folder := range published {
		serve(t, r, proxy, folder)
	}
	project := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/game\n\ngo 1.26.0\n",
		"client/main.go": `package main

import (
	"fmt"

	"matchmaker.dev/pkg/client"
)

func main() { fmt.Println(client.Running) }
`,
		"function/main.go": `package main

import "matchmaker.dev/pkg/matchfn"

var _ = matchfn.Register(func(r *matchfn.Run) error {
	if r.Tickets() > 1 {
		r.Propose(0, 0, 1)
	}
	return nil
}, matchfn.Attributes(), matchfn.Properties())

func main() {}
`,
	} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cache := t.TempDir()
	do := func(want string, arguments ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", arguments...)
		cmd.Dir = project
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
			return strings.HasPrefix(v, "GONOPROXY=") || strings.HasPrefix(v, "GOPRIVATE=")
		}), "GOPROXY=file://"+proxy, "GOSUMDB=off", "GOWORK=off", "GOMODCACHE="+cache, "GOFLAGS=-modcacherw")
		if said, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(said), want) {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, said)
		}
	}
	do("", "get", "matchmaker.dev/pkg/client@"+r.version, "matchmaker.dev/pkg/matchfn@"+r.version)
	do("Running", "run", "./client")
	do("", "run", "matchmaker.dev/pkg/matchfn/pack", "-o", "function.zip", "function")
	if info, err := os.Stat(filepath.Join(project, "function.zip")); err != nil || info.Size() < 10_000 {
		t.Errorf("the packed function: %+v, %v", info, err)
	}
	mod := string(content(t, filepath.Join(project, "go.mod")))
	for _, folder := range published {
		if !strings.Contains(mod, "matchmaker.dev/"+folder+" "+r.version) {
			t.Errorf("go.mod does not require %s %s:\n%s", folder, r.version, mod)
		}
	}
}

// serve writes a module of the commit as a proxy serves it.
func serve(t *testing.T, r *release, proxy, folder string) {
	t.Helper()
	text, err := git(t.Context(), "../..", "show", "HEAD:"+folder+"/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := modfile.Parse(folder+"/go.mod", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(parsed.Replace)+len(parsed.Exclude) != 0 {
		t.Errorf("%s: others who require it do not get what replace and exclude say", folder)
	}
	for _, require := range parsed.Require {
		if name, ours := strings.CutPrefix(require.Mod.Path, own); ours && !slices.Contains(published, name) {
			t.Errorf("%s requires %s, which is not published", folder, require.Mod.Path)
		}
	}
	m := module.Version{Path: parsed.Module.Mod.Path, Version: r.version}
	into := filepath.Join(proxy, m.Path, "@v")
	if err := os.MkdirAll(into, 0o750); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Create(filepath.Join(into, m.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r.source = t.TempDir()
	if err := r.export(t.Context(), "../.."); err != nil {
		t.Fatal(err)
	}
	if err := zip.CreateFromDir(packed, m, filepath.Join(r.source, folder)); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		".mod":  text + "\n",
		".info": fmt.Sprintf(`{"Version":%q,"Time":%q}`, m.Version, r.time.Format("2006-01-02T15:04:05Z")),
	} {
		if err := os.WriteFile(filepath.Join(into, m.Version+name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
