package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"helm.sh/helm/v3/pkg/chart/loader"
)

var made = flag.String("release", "", "folder of the release to look at, made from the commit HEAD")

// opened is the release that the tests look at.
func opened(t *testing.T) *release {
	t.Helper()
	if *made == "" {
		t.Skip("this is part of make release")
	}
	of, err := describe(t.Context(), "../..")
	if err != nil {
		t.Fatal(err)
	}
	return &release{revision: of, out: *made, work: t.TempDir(), environment: os.Environ()}
}

// TestReleaseIsReproducible makes the release a second time, in another folder and without what the first one left in
// the build cache. It is the same to the byte.
func TestReleaseIsReproducible(t *testing.T) {
	r := opened(t)
	t.Setenv("GOCACHE", t.TempDir())
	again := filepath.Join(t.TempDir(), "elsewhere", "release")
	if err := run(t.Context(), t.Output(), "../..", again); err != nil {
		t.Fatal(err)
	}
	first, second := names(t, r.out), names(t, again)
	if !slices.Equal(first, second) {
		t.Fatalf("%v, and then %v", first, second)
	}
	for _, name := range first {
		a, b := content(t, filepath.Join(r.out, name)), content(t, filepath.Join(again, name))
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestReleaseIsComplete: nothing is missing, and there is nothing unexpected.
func TestReleaseIsComplete(t *testing.T) {
	r := opened(t)
	n := r.number()
	want := []string{
		sums, "arena_" + n + ".zip", "duel_" + n + ".zip", "rules_" + n + ".zip", "rules_" + n + ".schema.json",
		"matchmaker-" + n + ".tgz", "matchmaker-client-" + n + ".tgz",
		"matchmaker-cpp-" + n + ".tar.gz", "matchmaker-csharp-" + n + ".tar.gz", "dev.matchmaker.client-" + n + ".tgz",
		"matchmaker-unreal-" + n + ".zip", "matchmaker-godot3-" + n + ".zip", "matchmaker-godot4-" + n + ".zip",
		"matchmaker_" + n + "_image.oci.tar", "matchmaker_" + n + "_sbom.cdx.json",
		"matchmaker_" + n + "_linux_amd64.tar.gz", "matchmaker_" + n + "_linux_arm64.tar.gz",
		"mm_" + n + "_linux_amd64.tar.gz", "mm_" + n + "_linux_arm64.tar.gz", "mm_" + n + "_darwin_amd64.tar.gz",
		"mm_" + n + "_darwin_arm64.tar.gz", "mm_" + n + "_windows_amd64.zip",
	}
	slices.Sort(want)
	if got := names(t, r.out); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestBinaries: each is built for its system and without traces of the machine, and says its version where it can run.
func TestBinaries(t *testing.T) {
	r := opened(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		path := r.taken(t, p)
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		set := map[string]string{}
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
		if set["GOOS"] != p.system || set["GOARCH"] != p.processor || set["CGO_ENABLED"] != "0" ||
			set["-trimpath"] != "true" || info.Path != "matchmaker.dev/services/cmd/"+p.command {
			t.Errorf("%v is %s, built with %v", p, info.Path, set)
		}
		text := content(t, path)
		if !bytes.Contains(text, []byte(r.version)) {
			t.Errorf("%v does not have the version %s", p, r.version)
		}
		for _, trace := range []string{folder, filepath.Join(home, "go")} {
			if bytes.Contains(text, []byte(trace+"/")) {
				t.Errorf("%v has the path %s of the machine that built it", p, trace)
			}
		}
		if p.system == runtime.GOOS && p.processor == runtime.GOARCH {
			says(t, r, path, p.command)
		}
	}
}

// says runs a binary, which says its version.
func says(t *testing.T, r *release, path, command string) {
	t.Helper()
	want := r.version
	if command == "mm" {
		want = "mm " + want
	}
	said, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput()
	if got := strings.TrimSpace(string(said)); err != nil || got != want {
		t.Errorf("%s says that it is %q, %v; want %q", path, got, err, want)
	}
}

// TestFunctions: each archive has one module.
func TestFunctions(t *testing.T) {
	r := opened(t)
	for _, name := range ready {
		archive, err := zip.OpenReader(filepath.Join(r.out, name+"_"+r.number()+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		if len(archive.File) != 1 || archive.File[0].Name != name+".wasm" {
			t.Fatalf("%s has %d files, the first is %s", name, len(archive.File), archive.File[0].Name)
		}
		f, err := archive.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		module, err := io.ReadAll(f)
		if err != nil || !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")) {
			t.Errorf("%s is no WebAssembly module: %v", name, err)
		}
	}
}

// TestChart: Helm reads the package, whose image is the release's, and whose templates are the commit's.
func TestChart(t *testing.T) {
	r := opened(t)
	chart, err := loader.LoadFile(filepath.Join(r.out, "matchmaker-"+r.number()+".tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if chart.Metadata.Version != r.number() || chart.Metadata.AppVersion != r.number() {
		t.Errorf("the chart is %s, for %s; want %s", chart.Metadata.Version, chart.Metadata.AppVersion, r.number())
	}
	if err := chart.Validate(); err != nil {
		t.Error(err)
	}
	there, err := git(t.Context(), "../..", "ls-tree", "-r", "--name-only", "HEAD:deploy/helm/matchmaker/templates")
	if err != nil {
		t.Fatal(err)
	}
	if len(chart.Templates) != len(strings.Fields(there)) || len(chart.Schema) == 0 || len(chart.Values) == 0 {
		t.Errorf("%d templates, want %d; %d bytes of schema", len(chart.Templates), len(strings.Fields(there)),
			len(chart.Schema))
	}
}

// TestSBOM: for each binary it lists what `go version -m` says, and it has the checksum of every other file.
func TestSBOM(t *testing.T) {
	r := opened(t)
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(content(t, filepath.Join(r.out, r.bomFile()))),
		cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	components, uses := map[string]cyclonedx.Component{}, map[string][]string{}
	for _, c := range *bom.Components {
		if _, twice := components[c.BOMRef]; twice {
			t.Errorf("%s is there twice", c.BOMRef)
		}
		components[c.BOMRef] = c
	}
	for _, d := range *bom.Dependencies {
		if d.Dependencies == nil {
			continue // the chart
		}
		uses[d.Ref] = *d.Dependencies
		for _, name := range uses[d.Ref] {
			if _, ok := components[name]; !ok {
				t.Errorf("%s uses %s, which is not described", d.Ref, name)
			}
		}
	}
	for _, name := range names(t, r.out) {
		if name == sums || name == r.bomFile() {
			continue
		}
		hash, err := digest(filepath.Join(r.out, name))
		if err != nil {
			t.Fatal(err)
		}
		if c := components[name]; c.Hashes == nil || (*c.Hashes)[0].Value != hash {
			t.Errorf("%s has another checksum than the SBOM says: %+v", name, c)
		}
	}
	line := regexp.MustCompile(`(?m)^\t(?:dep|=>)\t(\S+)\t(\S+)(?:\th1:\S+|\t)?$`)
	image := uses[r.imageFile()]
	for _, p := range programs {
		said, err := exec.CommandContext(t.Context(), "go", "version", "-m", r.taken(t, p)).Output()
		if err != nil {
			t.Fatal(err)
		}
		release := strings.Fields(string(said[bytes.IndexByte(said, ':'):]))[1]
		want := []string{
			"pkg:golang/std@" + strings.TrimPrefix(release, "go"), "pkg:golang/matchmaker.dev/services@" + r.version,
		}
		for _, m := range line.FindAllStringSubmatch(string(said), -1) {
			version := m[2]
			if version == "(devel)" {
				version = r.version
			}
			want = append(want, "pkg:golang/"+m[1]+"@"+version)
		}
		slices.Sort(want)
		got := uses[p.archive(r.number())]
		if len(want) < 10 || !slices.Equal(got, want) {
			t.Errorf("%v uses %v\nwant %v", p, got, want)
		}
		if p.system == "linux" {
			for _, name := range want {
				if !slices.Contains(image, name) {
					t.Errorf("the image has %v, which has %s, which it does not name", p, name)
				}
			}
		}
	}
	for _, c := range components {
		if ours := !strings.HasPrefix(c.BOMRef, "pkg:") || strings.HasPrefix(c.Name, own); ours != (c.Licenses != nil) {
			t.Errorf("%s: licenses %v", c.BOMRef, c.Licenses)
		}
		if strings.HasPrefix(c.BOMRef, "pkg:golang/") && !strings.HasPrefix(c.Name, own) && c.Name != standard {
			if c.Hashes == nil || len((*c.Hashes)[0].Value) != hex.EncodedLen(32) {
				t.Errorf("%s has no checksum", c.BOMRef)
			}
		}
	}
}

// TestChecksums: sha256sum's format, with every file of the release.
func TestChecksums(t *testing.T) {
	r := opened(t)
	var listed []string
	for line := range strings.Lines(string(content(t, filepath.Join(r.out, sums)))) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		listed = append(listed, name)
		if got, err := digest(filepath.Join(r.out, name)); err != nil || got != hash {
			t.Errorf("%s: %s, %v; want %s", name, got, err, hash)
		}
	}
	listed = append(listed, sums)
	slices.Sort(listed)
	if there := names(t, r.out); !slices.Equal(listed, there) {
		t.Errorf("%v have checksums, of %v", listed, there)
	}
}

// taken takes the binary out of its archive, and checks the archive.
func (r *release) taken(t *testing.T, p program) string {
	t.Helper()
	path := filepath.Join(r.work, p.system+p.processor, p.file())
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	archive := content(t, filepath.Join(r.out, p.archive(r.number())))
	var binary []byte
	if p.system == "windows" {
		z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil || len(z.File) != 2 || z.File[1].Name != "LICENSE" || z.File[0].Name != p.file() || !z.File[0].Modified.Equal(r.time) {
			t.Fatalf("%v: %v, %+v", p, err, z)
		}
		f, err := z.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		if binary, err = io.ReadAll(f); err != nil {
			t.Fatal(err)
		}
	} else {
		plain, err := gzip.NewReader(bytes.NewReader(archive))
		if err != nil {
			t.Fatal(err)
		}
		files := tar.NewReader(plain)
		header, err := files.Next()
		if err != nil || header.Name != p.file() || header.Mode != 0o755 || header.Uid != 0 || header.Gid != 0 ||
			header.Uname != "" || !header.ModTime.Equal(r.time) {
			t.Fatalf("%v: %+v, %v", p, header, err)
		}
		if binary, err = io.ReadAll(files); err != nil {
			t.Fatal(err)
		}
		if header, err := files.Next(); err != nil || header.Name != "LICENSE" || header.Size < 10_000 {
			t.Errorf("%v has no license: %+v, %v", p, header, err)
		}
		if _, err := files.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%v has more than two files: %v", p, err)
		}
	}
	if err := os.WriteFile(path, binary, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(t *testing.T, folder string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
