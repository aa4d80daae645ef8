package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// release is the work on one release.
type release struct {
	revision
	log         io.Writer
	source      string // gets the commit's files
	work        string // gets what lies between source and release
	out         string // gets the release
	environment []string
	made        []part
}

// part is a file of the release, for the SBOM.
type part struct {
	name    string
	path    string       // of the binary in it, if any
	modules []dependency // of what is no binary
}

// build makes all files.
func (r *release) build(ctx context.Context, repository string) error {
	for _, folder := range []string{r.source, r.work, r.out} {
		if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // the release is for all
			return err
		}
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"source", func(ctx context.Context) error { return r.export(ctx, repository) }},
		{"binaries", r.binaries},
		{"functions", r.functions},
		{"schema", r.schema},
		{"npm", r.npm},
		{"SDKs", r.sdks},
		{"images", r.images},
		{"chart", r.chart},
		{"SBOM", r.bom},
		{"checksums", r.checksums},
	} {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(r.log, "%-10s %s\n", step.name, time.Since(began).Round(100*time.Millisecond))
	}
	return r.list()
}

// export writes the commit's files into the source folder. What is not committed is not released.
func (r *release) export(ctx context.Context, repository string) error {
	cmd := exec.CommandContext(ctx, "git", "-C", repository, "archive", "--format=tar", r.commit)
	var said bytes.Buffer
	cmd.Stderr = &said
	files, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = unpack(files, r.source)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("git archive: %w: %s", err, &said)
	}
	return nil
}

// unpack writes the files of an archive of git into a folder.
func unpack(files io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	archive := tar.NewReader(files)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, files) // the padding, so that git ends well
			return err
		}
		if err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(strings.TrimSuffix(header.Name, "/"), 0o755)
		case tar.TypeReg:
			var content []byte
			if content, err = io.ReadAll(archive); err == nil {
				err = root.WriteFile(header.Name, content, header.FileInfo().Mode().Perm())
			}
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("%s is neither a file nor a folder", header.Name)
		}
		if err != nil {
			return err
		}
	}
}

// command runs a command in a folder of the source, without the settings of the release's maker.
func (r *release) command(ctx context.Context, folder string, environment []string, name string,
	arguments ...string,
) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir = filepath.Join(r.source, folder)
	cmd.Env = slices.DeleteFunc(slices.Clone(r.environment), func(v string) bool {
		variable, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{
			"GOFLAGS", "GOWORK", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140", "GODEBUG", "CGO_ENABLED",
		}, variable)
	})
	// Not empty: an empty variable would give way to what `go env -w` stored.
	cmd.Env = append(cmd.Env, "GOFLAGS=-mod=readonly", "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off")
	cmd.Env = append(cmd.Env, environment...)
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arguments, " "), err, &said)
	}
	return text, nil
}

// list prints the files of the release.
func (r *release) list() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(r.log, "%10d  %s\n", info.Size(), e.Name())
	}
	return nil
}
