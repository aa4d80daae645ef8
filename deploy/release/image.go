package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// base is the image that the Dockerfile starts from. Its parts are made here, without a registry.
const base = "gcr.io/distroless/static-debian12:nonroot"

const certificates = "etc/ssl/certs/ca-certificates.crt"

// commands are the binaries in the image.
var commands = []string{"matchmaker", "mm"}

// processors are those that the image is for.
var processors = []string{"amd64", "arm64"}

// imageFile is the name of the archive with the images.
func (r *release) imageFile() string { return "matchmaker_" + r.number() + "_image.oci.tar" }

// images writes the images as one OCI archive with an index of the processors.
func (r *release) images(_ context.Context) error {
	says, err := read(filepath.Join(r.source, "deploy", "Dockerfile"), r.version)
	if err != nil {
		return err
	}
	if says.base != base {
		return fmt.Errorf("the Dockerfile starts from %s, and only the parts of %s are known here", says.base, base)
	}
	root, err := r.layer(rootFiles())
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, processor := range processors {
		image, err := r.image(says, processor, root)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: processor}},
		})
	}
	folder := filepath.Join(r.work, "layout")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          "docker.io/library/matchmaker:" + r.number(),
		"org.opencontainers.image.ref.name": r.number(),
	})); err != nil {
		return err
	}
	entries, err := under(folder)
	if err != nil {
		return err
	}
	if err := r.write(r.imageFile(), tarred, entries); err != nil {
		return err
	}
	r.made = append(r.made, part{name: r.imageFile()})
	return nil
}

// image is what the Dockerfile says, for one processor.
func (r *release) image(says settings, processor string, root v1.Layer) (v1.Image, error) {
	var files []entry
	for _, command := range commands {
		content, err := os.ReadFile(r.binary(program{command, "linux", processor}))
		if err != nil {
			return nil, err
		}
		files = append(files, entry{name: strings.TrimPrefix(says.folder, "/") + command, mode: 0o755, content: content})
	}
	binaries, err := r.layer(append([]entry{{name: "usr/", mode: 0o755}, {name: "usr/local/", mode: 0o755},
		{name: "usr/local/bin/", mode: 0o755}}, files...))
	if err != nil {
		return nil, err
	}
	at := v1.Time{Time: r.time}
	image, err := mutate.Append(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		types.OCIConfigJSON),
		mutate.Addendum{Layer: root, History: v1.History{Created: at, CreatedBy: "certificates, users and /tmp"}},
		mutate.Addendum{Layer: binaries, History: v1.History{Created: at, CreatedBy: "matchmaker and mm " + r.version}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.Created, file.OS, file.Architecture, file.Config = at, "linux", processor, says.config
	// As in the base image.
	file.Config.WorkingDir = "/home/nonroot"
	file.Config.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SSL_CERT_FILE=/" + certificates,
	}
	return mutate.ConfigFile(image, file)
}

// layer packs files.
func (r *release) layer(entries []entry) (v1.Layer, error) {
	var packed bytes.Buffer
	if err := tarred(&packed, r.time, entries); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(packed.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}

// rootFiles are what the base image has and the binaries need. They read no time zones.
func rootFiles() []entry {
	var trusted bytes.Buffer
	for root := range bundle.Roots() {
		// A file cannot say that a root is trusted for some certificates only.
		if root.Constraint == nil {
			_ = pem.Encode(&trusted, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return []entry{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, content: []byte("root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n")},
		{name: "etc/passwd", mode: 0o644, content: []byte("root:x:0:0:root:/root:/sbin/nologin\n" +
			"nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n" +
			"nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: certificates, mode: 0o644, content: trusted.Bytes()},
		{name: "home/", mode: 0o755},
		{name: "home/nonroot/", mode: 0o700, owner: 65532},
		{name: "root/", mode: 0o700},
		{name: "tmp/", mode: 0o1777},
	}
}

// under returns all files below a folder, in the order of their names.
func under(folder string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			entries = append(entries, entry{name: filepath.ToSlash(name) + "/", mode: 0o755})
			return nil
		}
		content, err := os.ReadFile(path)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, content: content})
		return err
	})
	if err == nil && len(entries) == 0 {
		err = errors.New("the layout is empty")
	}
	return entries, err
}
