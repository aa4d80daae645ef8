package compose

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// root is the content of an image that is made here.
type root struct {
	to    *tar.Writer
	there map[string]bool // files, which the engine refuses to have twice
}

// tree copies a folder, without what skip says.
func (r root) tree(from, to string, skip func(path string) bool) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if skip != nil && skip(filepath.ToSlash(rest)) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return r.folder(filepath.Join(to, rest), 0o755)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		return r.file(path, filepath.Join(to, rest))
	})
}

// file copies a file, or what a link leads to.
func (r root) file(from, to string) error {
	if r.there[to] {
		return nil
	}
	r.there[to] = true
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{
		Name: strings.TrimPrefix(to, "/"), Mode: int64(info.Mode().Perm() | 0o444), Size: info.Size(), Typeflag: tar.TypeReg,
	}
	if err := r.to.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(r.to, f)
	return err
}

// installed copies a binary of this machine and the libraries that it is linked with.
func (r root) installed(ctx context.Context, name string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return err
	}
	files := []string{path}
	said, err := exec.CommandContext(ctx, "ldd", path).Output()
	if err == nil { // it fails for a binary without libraries
		for _, m := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(string(said), -1) {
			files = append(files, m[1])
		}
	}
	for _, f := range files {
		if err := r.file(f, f); err != nil {
			return err
		}
	}
	return nil
}

func (r root) folder(name string, mode int64) error {
	return r.to.WriteHeader(&tar.Header{Name: strings.TrimPrefix(name, "/") + "/", Mode: mode, Typeflag: tar.TypeDir})
}

// owned is a folder of a user, as volumes that begin as it is are.
func (r root) owned(name string, user int) error {
	return r.to.WriteHeader(&tar.Header{
		Name: strings.TrimPrefix(name, "/") + "/", Mode: 0o755, Typeflag: tar.TypeDir, Uid: user, Gid: user,
	})
}

func (r root) text(name, content string) error {
	if err := r.to.WriteHeader(&tar.Header{
		Name: strings.TrimPrefix(name, "/"), Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg,
	}); err != nil {
		return err
	}
	_, err := io.WriteString(r.to, content)
	return err
}

// shell gives the image a shell, and wget for health checks.
func (r root) shell() error {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	if err := r.file(path, "/bin/busybox"); err != nil {
		return err
	}
	for _, name := range []string{"sh", "wget", "mkdir", "cp"} {
		link := &tar.Header{Name: "bin/" + name, Linkname: "busybox", Typeflag: tar.TypeSymlink}
		if err := r.to.WriteHeader(link); err != nil {
			return err
		}
	}
	return nil
}

// image makes an image of what fill writes. changes are lines of a Dockerfile.
func (e *engine) image(ctx context.Context, t *testing.T, name string, fill func(root) error, changes ...string) {
	t.Helper()
	step(t, "image "+name, func(t *testing.T) {
		arguments := []string{"import"}
		for _, change := range changes {
			arguments = append(arguments, "--change", change)
		}
		cmd := e.command(ctx, "", "docker", append(arguments, "-", name)...)
		in, write := io.Pipe()
		cmd.Stdin = in
		filled := make(chan error, 1)
		go func() {
			archive := tar.NewWriter(write)
			err := errors.Join(fill(root{archive, map[string]bool{}}), archive.Close())
			_ = write.CloseWithError(err)
			filled <- err
		}()
		said, err := cmd.CombinedOutput()
		_ = in.Close()
		if err := errors.Join(err, <-filled); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	})
}

// bases makes the images that the Dockerfile starts from: Go and the modules of the repository, and the parts of
// distroless that are in it.
func (e *engine) bases(ctx context.Context, t *testing.T, source string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(source, "deploy", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	from := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(text), -1)
	if len(from) != 2 {
		t.Fatalf("the Dockerfile has %d stages", len(from))
	}
	release, ok := strings.CutPrefix(from[0][1], "golang:")
	if !ok || !strings.HasPrefix(runtime.Version(), "go"+release) {
		t.Fatalf("the image is built with %s, and here is %s", from[0][1], runtime.Version())
	}
	if !strings.HasPrefix(from[1][1], "gcr.io/distroless/static") {
		t.Fatalf("the image starts from %s, whose parts nobody knows here", from[1][1])
	}
	var modules string
	step(t, "modules", func(t *testing.T) { modules = e.modules(ctx, t, source) })
	golang, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	e.image(ctx, t, from[0][1], func(r root) error {
		tests := regexp.MustCompile(`^(api|doc|test|misc)$|^pkg/[a-z]+_[a-z0-9]+|/testdata$`)
		return errors.Join(
			r.tree(strings.TrimSpace(string(golang)), "/usr/local/go",
				func(path string) bool { return tests.MatchString(path) }),
			r.tree(modules, "/modules", nil), r.shell(), r.folder("/tmp", 0o1777))
	}, "ENV PATH=/usr/local/go/bin:/bin", "ENV GOTOOLCHAIN=local", "ENV GOPATH=/go",
		// There is no network: modules come from the image, and are checked by go.sum.
		"ENV GOPROXY=file:///modules", "ENV GOSUMDB=off")
	e.image(ctx, t, from[1][1], func(r root) error {
		return errors.Join(
			r.text("/etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\n"+
				"nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"),
			r.text("/etc/group", "root:x:0:\nnonroot:x:65532:\n"),
			r.file("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt"),
			r.folder("/tmp", 0o1777), r.folder("/home/nonroot", 0o755))
	}, "USER 65532", "WORKDIR /home/nonroot", "ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt")
}

// modules returns a folder with the modules of the repository as a module proxy serves them.
func (e *engine) modules(ctx context.Context, t *testing.T, source string) string {
	t.Helper()
	there, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	of := strings.Split(strings.TrimSpace(string(there)), "\n")
	cache := filepath.Join(e.folder, "modcache")
	cmd := exec.CommandContext(ctx, "go", "mod", "download")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=-modcacherw", "GOMODCACHE="+cache,
		"GOPROXY=file://"+filepath.Join(of[0], "cache", "download")+","+of[1])
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, said)
	}
	return filepath.Join(cache, "cache", "download")
}

// program is one of another project, at a released version.
type program struct{ module, version, pack string }

// build builds a program in its own module, so that it gets what its makers chose, unless it was built before.
func (p program) build(ctx context.Context, t *testing.T, flags string) string {
	t.Helper()
	name := strings.NewReplacer("/", "-", "@", "-").Replace(path.Join(p.module, p.pack) + "@" + p.version)
	file, err := filepath.Abs(filepath.Join(*tools, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		return file
	}
	step(t, "build "+p.module+"@"+p.version, func(t *testing.T) {
		said, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.module+"@"+p.version).Output()
		var module struct{ Dir, Error string }
		if err := errors.Join(err, json.Unmarshal(said, &module)); err != nil || module.Dir == "" {
			t.Fatalf("go mod download %s: %v\n%s", p.module, err, said)
		}
		if err := os.MkdirAll(*tools, 0o755); err != nil {
			t.Fatal(err)
		}
		part := fmt.Sprintf("%s.%d", file, os.Getpid())
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w "+flags, "-o", part, "./"+p.pack)
		cmd.Dir = module.Dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-mod=readonly")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, tail(string(said)))
		}
		if err := os.Rename(part, file); err != nil {
			t.Fatal(err)
		}
	})
	return file
}

// images are the images of the services, from what docker compose says of its file.
func images(t *testing.T, config string) map[string]string {
	t.Helper()
	var project struct {
		Services map[string]struct{ Image string }
	}
	if err := json.Unmarshal([]byte(config), &project); err != nil || len(project.Services) == 0 {
		t.Fatalf("docker compose config: %v\n%s", err, config)
	}
	all := map[string]string{}
	for name, s := range project.Services {
		all[name] = s.Image
	}
	return all
}
