package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestImages: the archive has a whole image for each processor, which is what the Dockerfile describes.
func TestImages(t *testing.T) {
	r := opened(t)
	folder := t.TempDir()
	f, err := os.Open(filepath.Join(r.out, r.imageFile()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unpack(f, folder); err != nil {
		t.Fatal(err)
	}
	path, err := layout.FromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	all, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 ||
		manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != r.number() {
		t.Fatalf("%+v, %v; want one index, named %s", manifest, err, r.number())
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, m := range manifest.Manifests {
		there = append(there, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		r.checkImage(t, image, m.Platform.Architecture)
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(there, want) {
		t.Errorf("images for %v, want %v", there, want)
	}
}

func (r *release) checkImage(t *testing.T, image v1.Image, processor string) {
	t.Helper()
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		User: "65532:65532", Entrypoint: []string{"/usr/local/bin/matchmaker"}, Cmd: []string{"--help"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, WorkingDir: "/home/nonroot", Env: file.Config.Env,
		Labels: map[string]string{
			"org.opencontainers.image.title":       "matchmaker",
			"org.opencontainers.image.description": "Matchmaking for multiplayer games: the server of all services, and mm",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.version":     r.version,
		},
	}
	if file.OS != "linux" || file.Architecture != processor || !file.Created.Equal(r.time) ||
		!reflect.DeepEqual(file.Config, want) {
		t.Errorf("%s/%s of %v: %+v\nwant %+v", file.OS, file.Architecture, file.Created, file.Config, want)
	}
	found := map[string]*tar.Header{}
	contents := map[string][]byte{}
	flat := mutate.Extract(image)
	defer flat.Close()
	for files := tar.NewReader(flat); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = header
		if contents[header.Name], err = io.ReadAll(files); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range commands {
		name := "usr/local/bin/" + command
		p := program{command, "linux", processor}
		path := r.taken(t, p)
		if h := found[name]; h == nil || h.Mode != 0o755 || h.Uid != 0 || !bytes.Equal(contents[name], content(t, path)) {
			t.Errorf("%v in the image is another one than that of the archive: %+v", p, h)
			continue
		}
		if processor == runtime.GOARCH && runtime.GOOS == "linux" {
			says(t, r, path, command)
		}
	}
	if h := found["tmp"]; h == nil || h.Mode != 0o1777 {
		t.Errorf("/tmp is %+v", h)
	}
	for name, h := range found {
		if h.Mode&0o022 != 0 && name != "tmp" {
			t.Errorf("%s can be written by everybody: %o", name, h.Mode)
		}
	}
	roots := 0
	for rest := contents[certificates]; ; roots++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if c, err := x509.ParseCertificate(block.Bytes); err != nil || !c.IsCA {
			t.Errorf("a certificate of the image: %v", err)
		}
	}
	if roots < 50 {
		t.Errorf("the image trusts %d certificates only", roots)
	}
}

// TestDockerfile: the release knows the base image of the Dockerfile, and an instruction that it cannot follow is an
// error.
func TestDockerfile(t *testing.T) {
	says, err := read("../Dockerfile", "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if says.base != base || says.folder != "/usr/local/bin/" || says.config.User != "65532:65532" ||
		says.config.Labels["org.opencontainers.image.version"] != "v1.2.3" {
		t.Errorf("%+v", says)
	}
	for name, text := range map[string]string{
		"a command":      "FROM a AS build\nFROM b\nCOPY --from=build /out/ /bin/\nRUN true\n",
		"another copy":   "FROM a AS build\nFROM b\nCOPY --from=build /out/ /bin/\nCOPY . /src/\n",
		"no binaries":    "FROM a AS build\nFROM b\n",
		"a health check": "FROM a AS build\nFROM b\nCOPY --from=build /out/ /bin/\nHEALTHCHECK CMD true\n",
	} {
		path := filepath.Join(t.TempDir(), "Dockerfile")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(path, "v1.2.3"); err == nil {
			t.Errorf("%s: %+v, want an error", name, got)
		}
	}
}
