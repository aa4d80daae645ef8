// Pack builds a match function into a zip archive or a bare module. Both can be uploaded:
//
//	go run matchmaker.dev/pkg/matchfn/pack -o duel.zip ./duel
//	go run matchmaker.dev/pkg/matchfn/pack -o duel.wasm ./duel
//
// The same source and the same Go release give the same bytes.
package main

import (
	"archive/zip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	out := flag.String("o", "", "archive or module to write, a .zip or .wasm file; its folder is created")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: pack -o FILE.zip|FILE.wasm FOLDER")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *out == "" || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := pack(ctx, *out, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// pack builds the function in folder and writes it to out: the bare module, or an archive with only the module, named
// after the folder.
func pack(ctx context.Context, out, folder string) (err error) {
	folder, err = filepath.Abs(folder)
	if err != nil {
		return err
	}
	write, ok := map[string]func(io.Writer, string) error{".zip": archive, ".wasm": bare}[filepath.Ext(out)]
	if !ok {
		return fmt.Errorf("cannot write %s: it is neither a .zip nor a .wasm file", out)
	}
	dir, err := os.MkdirTemp("", "pack")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	module := filepath.Join(dir, filepath.Base(folder)+".wasm")
	if err := build(ctx, folder, module); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o750); err != nil {
		return err
	}
	// Rename at the end, so that readers of out never see a part of it.
	f, err := os.CreateTemp(filepath.Dir(out), filepath.Base(out)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f, module), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// build compiles the function in folder to a WebAssembly module in reactor form.
func build(ctx context.Context, folder, module string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", module, ".")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", folder, err, text)
	}
	return nil
}

// archive writes a zip archive with one file. It has no time, so that its bytes depend only on the content.
func archive(to io.Writer, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	z := zip.NewWriter(to)
	w, err := z.CreateHeader(&zip.FileHeader{Name: filepath.Base(path), Method: zip.Deflate})
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	return z.Close()
}

// bare writes the module as it is.
func bare(to io.Writer, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = to.Write(content)
	return err
}
