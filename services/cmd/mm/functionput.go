package main

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the API's checksum of an upload, not for security
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

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
	return s.showMembers(map[string]string{"function": u.function, "md5Hash": u.sum, "would": would},
		"function, md5=md5Hash, it would=would")
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

const (
	startTimeout  = 30 * time.Second
	startInterval = 250 * time.Millisecond
)

// upload is an upload of a function that is to start.
type upload struct {
	function string
	sum      string // its MD5
	wait     bool
	action   string // what the user did, for error messages
}

// showStart waits for the start of an upload if u.wait is set, and shows the function. It fails if the upload does not
// run in time.
func (s *session) showStart(ctx context.Context, api *client.Client, u upload) error {
	f, err := s.waitForStart(ctx, api, u)
	if err := s.showFunction(f, err); err != nil {
		return err
	}
	switch {
	case !u.wait:
		return nil
	case f.Status.State == client.Running:
		s.checkConfigsOf(ctx, api, f.Name)
		return nil
	case f.Status.State == client.Failed:
		s.showLogEnd(ctx, api, f.Name)
		return fmt.Errorf("function %s is %s, but does not start", f.Name, u.action)
	}
	return fmt.Errorf("function %s is %s, but is %s after %s: see \"mm function get %s\"",
		f.Name, u.action, f.Status.State, startTimeout, f.Name)
}

// waitForStart reads the function until the upload runs or has failed, for at most startTimeout. It reads the function
// only once if the upload is not waited for.
func (s *session) waitForStart(ctx context.Context, api *client.Client, u upload) (*client.Function, error) {
	bar := s.startProgress("starting "+u.function, 0)
	defer bar.stop()
	for end := s.now().Add(startTimeout); ; {
		f, err := api.GetFunction(ctx, u.function)
		if err != nil {
			return nil, err
		}
		// With another MD5, the state belongs to the upload before.
		done := strings.EqualFold(f.MD5, u.sum) && (f.Status.State == client.Running || f.Status.State == client.Failed)
		if done || !u.wait || !s.now().Before(end) {
			return f, nil
		}
		bar.setMessage(fmt.Sprintf("starting %s: %s", u.function, f.Status.State))
		if err := s.sleep(ctx, startInterval); err != nil {
			return nil, err
		}
	}
}

// showLogEnd prints the last lines of the function's log, which say why it failed.
func (s *session) showLogEnd(ctx context.Context, api *client.Client, name string) {
	logs, err := api.GetFunctionLog(ctx, name, time.Minute)
	if err != nil {
		s.note("its log cannot be read: %s", s.errorText(err))
		return
	}
	const most = 10
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		lines := slices.Collect(strings.Lines(logs[instance])) // none if the log is empty
		for _, line := range lines[max(0, len(lines)-most):] {
			s.note("%s: %s", instance, strings.TrimRight(line, "\n"))
		}
	}
}
