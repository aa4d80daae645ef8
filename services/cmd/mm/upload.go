package main

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the API's own checksum of an upload, no protection
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

type functionPut struct {
	Name           string `arg:"" help:"The function's name."`
	File           string `arg:"" help:"A .zip or .tar.gz archive, or a .wasm module."`
	Implementation string `help:"The module to run, when the archive holds several."`
	Wait           bool   `default:"true" negatable:"" help:"Wait up to 30 seconds until the function runs."`
}

func (functionPut) Help() string {
	return `Examples:

    mm function put duel bin/functions/duel.zip
    mm function put duel duel.wasm --no-wait`
}

const (
	startLimit = 30 * time.Second       // how long an uploaded function is waited for
	startPoll  = 250 * time.Millisecond // how often it is looked at
)

// Run uploads the function, and waits until it runs.
func (c functionPut) Run(ctx context.Context, s *session) error {
	archive, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	if err := checkArchive(archive); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	api, err := s.connect(asDeveloper())
	if err != nil {
		return err
	}
	bar := s.begin("uploading "+c.Name, int64(len(archive)))
	defer bar.end()
	err = api.PutFunction(ctx, c.Name, c.Implementation, &watched{bytes.NewReader(archive), bar})
	bar.end()
	if err != nil {
		return err
	}
	sum := md5.Sum(archive) //nolint:gosec // see the import
	f, err := s.awaitStart(ctx, api, c, hex.EncodeToString(sum[:]))
	if err != nil {
		return err
	}
	if err := s.showFunction(f); err != nil {
		return err
	}
	switch {
	case !c.Wait || f.Status.State == client.Running:
		return nil
	case f.Status.State == client.Failed:
		s.lastWords(ctx, api, f.Name)
		return fmt.Errorf("function %s is uploaded, but does not start", f.Name)
	}
	return fmt.Errorf("function %s is uploaded, but is %s after %s: see \"mm function get %s\"", f.Name, f.Status.State, startLimit, f.Name)
}

// awaitStart reads the function until its new upload runs or has failed, or
// startLimit is over; just once when nobody wants to wait.
func (s *session) awaitStart(ctx context.Context, api *client.Client, c functionPut, sum string) (*client.Function, error) {
	bar := s.begin("starting "+c.Name, 0)
	defer bar.end()
	for end := s.now().Add(startLimit); ; {
		f, err := api.GetFunction(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		// Until the service speaks of this upload, its state is that of the one before.
		settled := strings.EqualFold(f.MD5, sum) && (f.Status.State == client.Running || f.Status.State == client.Failed)
		if settled || !c.Wait || !s.now().Before(end) {
			return f, nil
		}
		bar.say(fmt.Sprintf("starting %s: %s", c.Name, f.Status.State))
		if err := s.sleep(ctx, startPoll); err != nil {
			return nil, err
		}
	}
}

// lastWords prints the end of the function's logs, which say why it failed.
func (s *session) lastWords(ctx context.Context, api *client.Client, name string) {
	logs, err := api.GetFunctionLog(ctx, name, time.Minute)
	if err != nil {
		s.note("its log cannot be read: %s", s.reason(err))
		return
	}
	const enough = 10
	for _, instance := range slices.Sorted(maps.Keys(logs)) {
		lines := strings.Split(strings.TrimRight(logs[instance], "\n"), "\n")
		for _, line := range lines[max(0, len(lines)-enough):] {
			s.note("%s: %s", instance, line)
		}
	}
}

// checkArchive tells what the service would refuse, by the first bytes as the
// service does, before anything is sent.
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

// watched is a file whose reading moves a bar.
type watched struct {
	*bytes.Reader
	bar *bar
}

func (w *watched) ReadAt(p []byte, offset int64) (int, error) {
	n, err := w.Reader.ReadAt(p, offset)
	w.bar.reach(offset + int64(n))
	return n, err
}

var _ io.ReaderAt = (*watched)(nil)
