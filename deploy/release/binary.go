package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// program is a binary for one system.
type program struct{ command, system, processor string }

// programs are the binaries of a release. The services run on Linux only.
var programs = []program{
	{"matchmaker", "linux", "amd64"},
	{"matchmaker", "linux", "arm64"},
	{"mm", "linux", "amd64"},
	{"mm", "linux", "arm64"},
	{"mm", "darwin", "amd64"},
	{"mm", "darwin", "arm64"},
	{"mm", "windows", "amd64"},
}

// file is the name of the binary.
func (p program) file() string {
	if p.system == "windows" {
		return p.command + ".exe"
	}
	return p.command
}

// archive is the name of the archive with the binary.
func (p program) archive(number string) string {
	ending := ".tar.gz"
	if p.system == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", p.command, number, p.system, p.processor, ending)
}

// binary is the path of the binary before it is in an archive.
func (r *release) binary(p program) string {
	return filepath.Join(r.work, p.system+"_"+p.processor, p.file())
}

// binaries builds all programs, and packs each.
func (r *release) binaries(ctx context.Context) error {
	license, err := os.ReadFile(filepath.Join(r.source, "LICENSE"))
	if err != nil {
		return err
	}
	for _, p := range programs {
		if _, err := r.command(ctx, ".", []string{"GOOS=" + p.system, "GOARCH=" + p.processor}, "go", "build", "-trimpath",
			"-buildvcs=false", "-ldflags", "-s -w -X main.version="+r.version, "-o", r.binary(p),
			"./services/cmd/"+p.command); err != nil {
			return err
		}
		content, err := os.ReadFile(r.binary(p))
		if err != nil {
			return err
		}
		pack := tarGzip
		if p.system == "windows" {
			pack = zipped
		}
		name := p.archive(r.number())
		if err := r.write(name, pack, []entry{
			{name: p.file(), mode: 0o755, content: content}, {name: "LICENSE", mode: 0o644, content: license},
		}); err != nil {
			return err
		}
		r.made = append(r.made, part{name: name, path: r.binary(p)})
	}
	return nil
}
