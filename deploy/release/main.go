// Release makes the files of a release from the commit HEAD of a repository: binaries, match functions, images, the
// Helm chart, the package for npm, an SBOM and checksums. The same commit and the same Go release give the same bytes.
//
//	go run . --out ../../bin/release
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	repository := flag.String("repository", filepath.Join("..", ".."), "the repository; its commit HEAD is released")
	out := flag.String("out", "", "folder that gets the files; an earlier release in it is replaced")
	flag.Parse()
	if *out == "" || flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *repository, *out); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes a release, and puts it in place when it is whole.
func run(ctx context.Context, log io.Writer, repository, out string) (err error) {
	of, err := describe(ctx, repository)
	if err != nil {
		return err
	}
	fmt.Fprintln(log, "version", of.version, "of commit", of.commit)
	changes, err := git(ctx, repository, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		fmt.Fprintln(log, "note: changes that are not committed are not in the release")
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := replaceable(out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o750); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(out), filepath.Base(out)+".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	r := release{revision: of, log: log, source: filepath.Join(work, "source"), work: filepath.Join(work, "work"),
		out: filepath.Join(work, "out"), environment: os.Environ()}
	if err := r.build(ctx, repository); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(r.out, out)
}

// replaceable refuses a folder that holds something else than a release.
func replaceable(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, sums)); err != nil {
		return fmt.Errorf("%s has no %s, so it is no earlier release: name another folder, or empty it", out, sums)
	}
	return nil
}
