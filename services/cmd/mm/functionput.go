package main

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the API's checksum of an upload, not for security
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"matchmaker.dev/pkg/client"
)

type functionPut struct {
	Name           string `arg:"" completion-predictor:"function" help:"The function's name."`
	File           string `arg:"" completion-predictor:"file" help:"A .zip or .tar.gz archive, or a .wasm module."`
	Implementation string `help:"The module to run, if the archive has several."`
	Note           string `help:"What is new in it, for people."`
	Shadow         bool   `help:"Run it in the shadow of the upload that runs, and compare what it proposes."`
	Wait           bool   `default:"true" negatable:"" help:"Wait until the function runs, for at most 30 seconds."`
	DryRun         bool   `help:"Only say whether it would create or replace a function; \"mm function test\" runs one."`
}

// Run uploads the function, and waits until it runs.
func (c functionPut) Run(ctx context.Context, s *session, api developerAPI) error {
	archive, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	if err := checkArchive(archive); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	sum := md5.Sum(archive) //nolint:gosec // see the import
	up := upload{c.Name, hex.EncodeToString(sum[:]), c.Wait, "uploaded"}
	if c.DryRun {
		return s.tryUpload(ctx, api.Client, up)
	}
	bar := s.startProgress("uploading "+c.Name, int64(len(archive)))
	defer bar.stop()
	err = api.UploadFunction(ctx, c.Name,
		client.FunctionUpload{Implementation: c.Implementation, Note: c.Note, Shadow: c.Shadow},
		&progressReader{bytes.NewReader(archive), bar})
	bar.stop()
	if err != nil {
		return err
	}
	if c.Shadow {
		return s.showFunction(api.GetFunction(ctx, c.Name))
	}
	return s.showStart(ctx, api.Client, up)
}

// tryUpload says what an upload would do.
func (s *session) tryUpload(ctx context.Context, api *client.Client, u upload) error {
	f, err := api.GetFunction(ctx, u.function)
	would := "replace the function"
	switch {
	case client.IsNotFound(err):
		would = "create the function"
	case err != nil:
		return err
	case strings.EqualFold(f.MD5, u.sum):
		would = "change nothing: it is the upload that is there"
	}
	s.note("nothing was uploaded")
	var g grid
	g.add("function", u.function)
	g.add("md5", u.sum)
	g.add("it would", would)
	return s.show(map[string]string{"function": u.function, "md5Hash": u.sum, "would": would}, g)
}

// checkArchive makes the service's check of the first bytes before the upload.
func checkArchive(archive []byte) error {
	if len(archive) == 0 {
		return errors.New("the file is empty")
	}
	for _, magic := range []string{"PK\x03\x04", "\x1f\x8b", "\x00asm"} {
		if bytes.HasPrefix(archive, []byte(magic)) {
			return nil
		}
	}
	return errors.New("neither a .zip, nor a .tar.gz, nor a .wasm file")
}

// progressReader moves a bar while it is read.
type progressReader struct {
	*bytes.Reader
	bar *bar
}

func (w *progressReader) ReadAt(p []byte, offset int64) (int, error) {
	n, err := w.Reader.ReadAt(p, offset)
	w.bar.setValue(offset + int64(n))
	return n, err
}

var _ io.ReaderAt = (*progressReader)(nil)
